import type { Config, Position } from '../../config/config.js';
import type { DrySettings } from '../dry-run/settings.js';
import type { Explanation, ExplainRequest } from './explanation.js';

type Plain<Entry> = Omit<Entry, 'positionOf' | 'isValid'>;

/** Config without functions, as it can be sent to a thread. */
export type PlainConfig = Omit<Config, 'pipeline' | 'formats' | 'slots'> & {
  readonly pipeline: readonly Plain<Config['pipeline'][number]>[];
  readonly formats: readonly Plain<Config['formats'][number]>[];
  readonly slots: readonly Plain<Config['slots'][number]>[];
};

/** Task of a thread: the request to explain. */
export interface ThreadTask {
  readonly config: PlainConfig;
  readonly request: ExplainRequest;
  readonly settings: DrySettings;
}

/** Answer of a thread. */
export type ThreadAnswer =
  | { readonly explanation: Explanation; readonly problem?: never }
  | { readonly explanation?: never; readonly problem: string };

/** The config with functions that know the positions of whole entries. */
export function revived(config: PlainConfig): Config {
  return {
    ...config,
    pipeline: config.pipeline.map(located),
    formats: config.formats.map(located),
    slots: config.slots.map((slot) => ({ ...located(slot), isValid: () => true })),
  };
}

function located<Entry extends { readonly at: Position }>(entry: Entry) {
  return { ...entry, positionOf: () => entry.at };
}
