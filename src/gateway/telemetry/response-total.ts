import type { ResponseTotal, Store } from '../../state/store/contract/store.js';

/** Total of the stored responses of all owners. */
export async function responseTotal(responses: Store['responses']): Promise<ResponseTotal> {
  const totals = [...(await responses.totals()).values()];
  return {
    count: totals.reduce((sum, { count }) => sum + count, 0),
    bytes: totals.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}
