import { shownCode } from '../../masking/shown-code.js';
import type { TextMask } from '../../masking/text-mask.js';
import type { GatewayError } from '../../../plugin/index.js';
import { retryAt } from './retry-at.js';

/** Cause of a cooldown, of a rejection or of the last error of a slot. */
export interface FailureCause {
  readonly [field: string]: string | number | null;
  /** HTTP status of the upstream's answer; null if there was none. */
  readonly status: number | null;
  readonly code: string;
  readonly message: string;
  /** Header that gave the end of the cooldown, with its value. */
  readonly header: string | null;
  readonly atMs: number;
}

/** Cause from the error of a call, as far as `mask` permits. `header`: by default, the one with the retry time. */
export function causeOf(
  { code, message, failure }: GatewayError,
  nowMs: number,
  { mask, header }: { readonly mask: TextMask; readonly header?: string | undefined },
): FailureCause {
  const answer = failure?.kind === 'status' ? failure : undefined;
  const deciding = header ?? (answer && retryAt(answer.headers, nowMs)?.header);
  return {
    status: answer?.status ?? null,
    code: shownCode(code, () => mask),
    message: mask(message, maxLength),
    header: deciding === undefined ? null : mask(deciding, maxLength),
    atMs: nowMs,
  };
}

/** Cause of a cooldown that a successful answer has announced by its headers. */
export function announcedCause(header: string | undefined, nowMs: number): FailureCause {
  const message = 'A successful answer said that the usage window is used up.';
  return { status: 200, code: 'window_exhausted', message, header: header ?? null, atMs: nowMs };
}

/** Characters that are kept of a text. */
const maxLength = 500;
