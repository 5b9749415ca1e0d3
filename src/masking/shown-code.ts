import { isErrorCode } from '../plugin/internal.js';
import type { TextMask } from './text-mask.js';

/**
 * Code of an error, which a plugin may have made, as it is stored and logged: `other` for one that is no identifier, or
 * has a credential in it.
 */
export function shownCode(code: unknown, maskOf: () => TextMask): string {
  if (typeof code !== 'string') return 'other';
  if (code.length <= 64 && words.test(code)) return code;
  return isErrorCode(code) && maskOf()(code, code.length) === code ? code : 'other';
}

/** Codes that no credential looks like, our own among them. */
const words = /^[a-z]+(?:_[a-z]+)*$/;
