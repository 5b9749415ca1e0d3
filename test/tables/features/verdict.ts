import type { Feature } from './feature.js';
import { leavesOf, valuesAt } from './paths.js';
import type { Part } from './places.js';
import type { Wire } from './receivers.js';
import type { Sent } from './recorder.js';

export type Verdict = 'sent' | 'reported' | 'refused' | 'LOST';

/** What became of a request. */
export interface Outcome {
  readonly status: number;
  /** Message of the error; empty for an answer. */
  readonly message: string;
  /** Paths in `x-gw-dropped`. */
  readonly dropped: readonly string[];
  readonly calls: readonly Sent[];
}

/** The worst verdict of the parts of a feature. */
export function verdictOf(
  body: Feature['body'],
  parts: readonly Part[],
  wire: Wire,
  outcome: Outcome,
): Verdict {
  if (outcome.status >= 400) return isNamed(body, outcome.message) ? 'refused' : 'LOST';
  if (parts.length === 0 || outcome.calls.length === 0) return 'LOST';
  const verdictOf = (part: Part): Verdict => {
    if (part.in[wire]?.(outcome.calls) === true) return 'sent';
    return outcome.dropped.some((path) => isOf(part, path) && isIn(body, path)) ? 'reported' : 'LOST';
  };
  const verdicts = new Set(parts.map(verdictOf));
  return (['LOST', 'reported'] as const).find((verdict) => verdicts.has(verdict)) ?? 'sent';
}

/** True for a path that is that of a part, in it, or a block or item around it. */
function isOf({ of }: Part, path: string): boolean {
  if (typeof of !== 'string') return of.test(path);
  return of.startsWith(path) || path.startsWith(of);
}

/** True for a path that the caller's body has. */
function isIn(body: unknown, path: string): boolean {
  return path === 'model' || valuesAt(body, path).length > 0;
}

/** True if an error names a field of the caller. */
function isNamed(body: Feature['body'], message: string): boolean {
  const places = leavesOf(body).flatMap(({ path }) => [path, path.split(/[.[]/)[0] ?? '']);
  return places.some((path) => message.startsWith(path));
}
