import type { ConsoleSession } from '../../plugin/index.js';

/** Who asks the panel. */
export type Credential =
  | { readonly kind: 'master' }
  | { readonly kind: 'session'; readonly session: ConsoleSession };
