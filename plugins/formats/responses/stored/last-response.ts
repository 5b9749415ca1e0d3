import type { FormatContext, StoredResponse } from '@gw2api/gateway/plugin/format';
import type { ResponsesRequest } from '../answer.js';
import { minJsonBytes } from '../../shared/json-size.js';

type Previous = Pick<StoredResponse, 'id' | 'owner' | 'input' | 'response'>;

/**
 * Takes the response that a WebSocket keeps, if it is the one with this id. It is gone then: a message that
 * fails must not be continued from, and one that succeeds leaves its own.
 */
export function takeLast(id: unknown, { connection, caller }: FormatContext): Previous | undefined {
  const last = connection?.kept as Previous | undefined; // `keepLast` alone sets it
  if (!connection || last === undefined || last.id !== id) return undefined;
  connection.kept = undefined;
  return last.owner === caller.keyId ? last : undefined;
}

/**
 * Keeps a finished response that is not to be stored on its WebSocket, for the next message; on none, or where
 * it is larger than a stored one may be, nothing is kept.
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
