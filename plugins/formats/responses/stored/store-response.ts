import type { FormatContext } from '@gw2api/gateway/plugin/format';
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
