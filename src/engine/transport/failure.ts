import { errors } from 'undici';
import { GatewayError, isGatewayError } from '../../plugin/index.js';
import { foreign } from '../../plugin/upstream/index.js';

/**
 * Error of a connection that failed or closed before an answer. `reused`: it had served another call before.
 */
export function unreachable(slot: string, cause: Error, reused = false): GatewayError {
  return new GatewayError(
    'upstream_unreachable',
    `Slot "${slot}" could not reach its upstream${codeOf(cause)}.`,
    {
      callersMessage: 'The upstream could not be reached.',
      failure: { kind: 'unreachable', reused },
      cause,
    },
  );
}

/** Error for an answer that was not HTTP: nothing at all, or another protocol. */
export function unanswered(slot: string, cause: Error, reused: boolean): GatewayError {
  if (cause instanceof errors.HTTPParserError) return foreign(slot, 'something other than HTTP', { cause });
  if (cause instanceof errors.HeadersOverflowError)
    return foreign(slot, 'more headers than allowed', { cause });
  return unreachable(slot, cause, reused);
}

export function timedOut(
  slot: string,
  what: 'begin to answer' | 'continue its answer',
  ms: number,
): GatewayError {
  return new GatewayError(
    'upstream_timeout',
    `The upstream of slot "${slot}" did not ${what} within ${ms} ms.`,
    {
      callersMessage: `The upstream did not ${what} within ${ms} ms.`,
      failure: { kind: 'timeout', ...(what === 'begin to answer' && { waitedFor: 'headers', afterMs: ms }) },
    },
  );
}

/**
 * Error of a call not sent because of an invalid header of the slot. Another slot may serve the request; this
 * one gets a cooldown, as when it is unreachable.
 */
export function unsendable(slot: string, name: string): GatewayError {
  const message = `Slot "${slot}" adds a header that HTTP does not allow, ${JSON.stringify(name)}; correct its headers.`;
  return new GatewayError('upstream_unreachable', message, {
    callersMessage: 'The upstream could not be called.',
    failure: { kind: 'unreachable', reused: false },
  });
}

/** True if a reused connection closed without an answer, which does not affect the upstream's health. */
export function isClosedReuse(error: unknown): boolean {
  return isGatewayError(error) && error.failure?.kind === 'unreachable' && error.failure.reused;
}

/** Suffix ` (ECONNREFUSED)`: the code names the error, but no host. */
function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' && error.code ? ` (${error.code})` : '';
}
