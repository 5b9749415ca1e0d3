import { panel } from '../../api/panel.js';
import { toPanelError } from '../../api/panel-error.js';
import type { OpenedRequest } from '../../api/types.js';

const tries = 5;
const pauseMs = 400;

/** A request of the ledger, which is written in batches: one that the live tail has shown may be there only in a second. */
export async function readWritten(id: string, signal: AbortSignal): Promise<OpenedRequest> {
  for (let turn = 1; ; turn += 1) {
    try {
      return await panel.request(id, signal);
    } catch (error) {
      if (toPanelError(error).status !== 404 || turn === tries || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
