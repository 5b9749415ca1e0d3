import {
  changedError,
  EventStream,
  isGatewayError,
  toGatewayError,
  type GatewayError,
  type ModelEventBatch,
  type ModelReply,
  type Outcome,
} from '../../../plugin/index.js';
import type { RunningCall } from './running-call.js';

/** Result of a failed call: what its stage receives, and the error of its row, if it was not the stage that ended it. */
export function failedBy(thrown: unknown, call: RunningCall, isAbandoned: boolean): FailedCall {
  const reason = call.isAborted ? call.abortReason : thrown;
  if (isAbandoned && call.isAborted) return { outcome: 'abandoned', thrown: reason };
  const error = toGatewayError(reason);
  return { outcome: 'failed', error, thrown: isGatewayError(reason) ? withoutPlace(reason) : reason };
}

interface FailedCall {
  readonly outcome: Outcome;
  readonly error?: GatewayError;
  readonly thrown: unknown;
}

/** The error without the headers about slot and attempts: in the answer to a caller they are those of its request. */
function withoutPlace(error: GatewayError): GatewayError {
  const { 'x-gw-slot': slot, 'x-gw-attempts': attempts, ...headers } = error.headers;
  return slot === undefined && attempts === undefined ? error : changedError(error, { headers });
}

/** Reply whose events are all here: no slot waits for its reader. */
export async function wholeReply(reply: ModelReply): Promise<ModelReply> {
  const batches: ModelEventBatch[] = [];
  for await (const batch of reply.events) batches.push(batch);
  return { ...reply, events: EventStream.from(eachOf(batches)) };
}

async function* eachOf<Value>(values: readonly Value[]): AsyncGenerator<Value> {
  yield* values;
}
