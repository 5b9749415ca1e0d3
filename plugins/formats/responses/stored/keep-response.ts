import type { FormatContext, StoredResponse } from '@gw2api/gateway/plugin/format';
import type { ResponseObject, ResponsesRequest } from '../answer.js';
import { minJsonBytes } from '../../shared/json-size.js';

/**
 * Stores a finished response with its input, within the quota of its key. A response that is too large, or
 * cannot be stored, is still answered.
 */
export function storeResponse(
  id: string,
  input: readonly unknown[],
  context: FormatContext,
): ResponsesRequest['keep'] {
  const { quota, store, caller, log, now, drop } = context;
  const reportTooLarge = () => {
    log.info({ response: id, maxBytes: quota.eachBytes }, 'A response is too large to be stored.');
    drop('store');
  };
  if (minJsonBytes(input, quota.eachBytes) > quota.eachBytes) {
    reportTooLarge();
    return async () => undefined;
  }
  return async (response: ResponseObject) => {
    const expiresAtMs = now() + lifetimeMs;
    try {
      const stored = { id, owner: caller.keyId, input, response, expiresAtMs };
      if (!(await store.responses.put(stored, quota))) reportTooLarge();
    } catch (error) {
      log.error({ err: error, response: id }, 'A response could not be stored.');
    }
  };
}

const lifetimeMs = 30 * 24 * 60 * 60 * 1000;

type Previous = Pick<StoredResponse, 'id' | 'owner' | 'input' | 'response'>;

/**
 * Takes and removes the response that a WebSocket keeps, if it has this id. A failed message cannot be continued from,
 * and a successful one stores its own.
 */
export function takeLast(id: unknown, { connection, caller }: FormatContext): Previous | undefined {
  const last = connection?.kept as Previous | undefined; // `keepLast` alone sets it
  if (!connection || last === undefined || last.id !== id) return undefined;
  connection.kept = undefined;
  return last.owner === caller.keyId ? last : undefined;
}

/**
 * Keeps a finished response that is not to be stored on its WebSocket, for the next message. Keeps nothing without a
 * WebSocket, or if the response is larger than a stored one may be.
 */
export function keepLast(
  id: string,
  input: readonly unknown[],
  { connection, caller, quota }: FormatContext,
): ResponsesRequest['keep'] {
  return async (response) => {
    if (!connection) return;
    const last: Previous = { id, owner: caller.keyId, input, response };
    const isTooLarge = minJsonBytes([input, response['output']], quota.eachBytes) > quota.eachBytes;
    connection.kept = isTooLarge ? undefined : last;
  };
}
