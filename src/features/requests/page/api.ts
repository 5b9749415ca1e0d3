import { call, pathOf, toConsoleError } from '../../../console/web/api/call.js';
import type { OpenedRequest } from '../../../console/web/api/ledger.js';

/** Error text of a failed request. */
export type ErrorText = NonNullable<OpenedRequest['error_text']>;

const fetchRequest = (id: string, signal?: AbortSignal) =>
  call<OpenedRequest>('GET', pathOf('/requests', id), { signal });

const tries = 5;
const pauseMs = 400;

/**
 * Loads a request, with retries: the ledger is written in batches, so a request from the live tail may be
 * missing for a second.
 */
export async function readWritten(id: string, signal: AbortSignal): Promise<OpenedRequest> {
  for (let turn = 1; ; turn += 1) {
    try {
      return await fetchRequest(id, signal);
    } catch (error) {
      if (toConsoleError(error).status !== 404 || turn === tries || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
