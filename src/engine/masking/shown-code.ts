import { errorCodes } from '../../plugin/core.js';
import { isErrorCode } from '../../kit/error-code.js';
import type { TextMask } from './text-mask.js';

/**
 * Code of an error, which a plugin may have made, as it is stored and logged: `other` for one that is not an identifier,
 * or contains a credential.
 */
export function shownCode(code: unknown, maskOf: () => TextMask): string {
  if (typeof code !== 'string') return 'other';
  if (wellKnown.has(code)) return code;
  return isErrorCode(code) && maskOf()(code, code.length) === code ? code : 'other';
}

/** The gateway's own codes and types of errors, which need no mask: a secret may be of small letters alone. */
const wellKnown: ReadonlySet<string> = new Set(
  Object.entries(errorCodes).flatMap(([code, { type }]) => [code, type]),
);
