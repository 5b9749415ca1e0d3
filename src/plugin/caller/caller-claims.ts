import type { CallerClaims } from '../contract/caller.js';
import { isRecord } from '../../kit/schema/record.js';

/** Max size of the claims of one caller, as JSON. */
const maxClaimsLength = 8192;

/**
 * Frozen copy of an authentication's facts about a caller, such as the payload of a token. Throws a RangeError if it is
 * not a JSON object, or is longer than 8 KB.
 */
export function callerClaims(fields: unknown): CallerClaims {
  const text = isRecord(fields) ? JSON.stringify(fields) : '';
  if (!text.startsWith('{')) throw new RangeError('The claims of a caller must be a JSON object.');
  if (text.length > maxClaimsLength)
    throw new RangeError(
      `The claims of a caller have ${text.length} characters as JSON; at most ${maxClaimsLength} are allowed. Omit claims that no stage reads.`,
    );
  return Object.freeze(JSON.parse(text) as CallerClaims); // as the line above wrote it
}
