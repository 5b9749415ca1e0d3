import type { ConsoleSession } from '../../plugin/index.js';

/** Credential of a caller of the panel API. */
export type Credential =
  | { readonly kind: 'master' }
  | { readonly kind: 'session'; readonly session: ConsoleSession };
