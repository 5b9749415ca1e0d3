import type { Config } from '../../config/config.js';
import type { Environment } from '../../config/environment.js';

/** Result of one look: `problem` keeps the gateway from serving, `skipped` could not be looked at. */
export interface Finding {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'problem' | 'skipped';
  /** State of the thing, and its mend where it is not well. */
  readonly text: string;
}

/** Things that a look may ask about. */
export interface Patient {
  readonly config: Config;
  readonly env: Environment;
  /** Working directory, where `.env` is. */
  readonly cwd: string;
}

/** A finding by the first of its conditions that holds. */
export function finding(
  name: string,
  text: string,
  { problem, warning }: { readonly problem?: string | undefined; readonly warning?: string | undefined } = {},
): Finding {
  if (problem !== undefined) return { name, state: 'problem', text: problem };
  if (warning !== undefined) return { name, state: 'warning', text: warning };
  return { name, state: 'ok', text };
}

/** A size in words. */
export function sizeText(bytes: number): string {
  return bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
