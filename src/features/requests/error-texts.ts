import type { Static } from 'typebox';
import type { ErrorTexts } from '../../state/ledger/error-texts.js';
import type { LedgerRow } from '../../state/ledger/contract.js';
import type { Services } from '../../gateway/services.js';
import type { ErrorText } from '../../operator/request-report.js';

type Parts = Pick<Services, 'store' | 'errorTexts' | 'now'>;

/** Error texts of rows by their ids, without expired ones. */
export async function findErrorTexts(
  rows: readonly LedgerRow[],
  { store, errorTexts, now }: Parts,
): Promise<ReadonlyMap<string, ErrorTexts>> {
  const sinceMs = now() - errorTexts.keptMs;
  const failed = rows.filter((row) => row.failed && row.atMs > sinceMs);
  return failed.length === 0 ? new Map() : store.errorTexts.find(failed);
}

/** Error text of a request, or the reason why there is none; null for a request that has not failed. */
export async function errorTextReport(
  row: LedgerRow,
  parts: Parts,
): Promise<Static<typeof ErrorText> | null> {
  if (!row.failed) return null;
  const { isOn, keptMs } = parts.errorTexts;
  const endMs = row.atMs + keptMs;
  const until = new Date(endMs).toISOString();
  const texts = (await findErrorTexts([row], parts)).get(row.id);
  if (texts) return { state: 'kept', text: texts.text, calls: callsOf(texts), until };
  const state = !isOn ? 'off' : endMs <= parts.now() ? 'expired' : 'none';
  return { state, text: null, calls: [], until: null };
}

function callsOf({ calls }: ErrorTexts): Static<typeof ErrorText>['calls'] {
  return calls.map(({ call, text }) => ({ call: call + 1, text }));
}
