import type { Config } from '../../config/config.js';
import type { Environment } from '../../config/environment.js';

/** Result of one check: `problem` keeps the gateway from serving, `skipped` could not be checked. */
export interface Finding {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'problem' | 'skipped';
  /** Observed state, and the fix if there is a problem. */
  readonly text: string;
}

/** Inputs of a check. */
export interface Patient {
  readonly config: Config;
  readonly env: Environment;
  /** Working directory, with `.env`. */
  readonly cwd: string;
}

/** A finding by the first of its conditions that is true. */
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
