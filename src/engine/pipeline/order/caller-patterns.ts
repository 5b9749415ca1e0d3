import type { Caller } from '../../../plugin/index.js';
import { globMatcher } from '../../../kit/glob.js';

/** Names by which patterns mean callers without a key of the console; no key may have them. */
export const reservedNames: ReadonlySet<string> = new Set(['master', 'anonymous']);

/** True for a pattern of callers authenticated without a console key, of their ids, as `jwt:NAME`. */
export function isForeign(pattern: string): boolean {
  return pattern.includes(separator);
}

/** Mark in ids of callers that have no key of the console. */
const separator = ':';

/**
 * Compiles patterns of `when: { caller }`: one without `:` matches `master`, `anonymous`, and ids and names of the
 * console's keys; one with `:` matches ids of all other callers, who may choose their names. `*` matches everybody.
 */
export function callerMatcher(patterns: readonly string[]): (caller: Caller) => boolean {
  if (patterns.includes('*')) return () => true;
  const matchesName = globMatcher(patterns.filter((pattern) => !isForeign(pattern)));
  const matchesId = globMatcher(patterns.filter(isForeign));
  const matchesKey = (text: string): boolean => !reservedNames.has(text) && matchesName(text);
  return ({ kind, keyId, name }) => {
    if (kind !== 'key') return matchesName(kind);
    return keyId.includes(separator) ? matchesId(keyId) : matchesKey(keyId) || matchesKey(name);
  };
}
