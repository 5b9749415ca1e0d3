import { changedError, GatewayError, isGatewayError, withHeaders } from '../../../plugin/index.js';
import type { HttpAnswer } from '../../../plugin/upstream/index.js';
import { exhaustion } from '../health/transitions.js';

type RefusedAnswer = Pick<HttpAnswer, 'status' | 'headers'>;

/** Refusal (401) of a credential that no HTTP header can contain. */
export function unsendable(slot: string): GatewayError {
  return new GatewayError(
    'no_slot_available',
    `Slot "${slot}" has a credential with a line end or another character that no HTTP header can hold; enter it again.`,
    { failure: { kind: 'status', status: 401, headers: {} } },
  );
}

/** Adds `retry-after` to a 429 of an exhausted window, also if the upstream has left it out. */
export function withReset(error: unknown, nowMs: number): unknown {
  if (!isGatewayError(error) || error.failure?.kind !== 'status' || error.failure.status !== 429)
    return error;
  const { untilMs } = exhaustion(error.failure.headers, nowMs) ?? {};
  if (untilMs === undefined) return error;
  return withHeaders(error, { 'retry-after': String(Math.ceil((untilMs - nowMs) / 1000)) });
}

/** Head of an answer that refuses the credential; undefined for any other error. */
export function refusedAnswer(error: unknown): RefusedAnswer | undefined {
  const { failure } = isGatewayError(error) ? error : {};
  return failure?.kind === 'status' && failure.status === 401 ? failure : undefined;
}

/** The error as a 401, the status of a refused credential. */
export function asRefusal(error: GatewayError, headers: RefusedAnswer['headers']): GatewayError {
  return changedError(error, {
    status: 401,
    type: 'authentication_error',
    failure: { kind: 'status', status: 401, headers },
    cause: error,
  });
}
