import type { LedgerRow } from '../../state/ledger/contract.js';
import { isoTime } from '../../operator/schemas.js';

/** Recorded facts of a real request: no texts, which the gateway does not keep. */
export function recordedReport(row: LedgerRow): object {
  const { stages = [], calls = [], answeredBy = null } = row.trace ?? {};
  return {
    object: 'recorded_request',
    id: `${row.atMs}.${row.id}`,
    at: isoTime(row.atMs),
    request_id: row.requestId,
    key: row.keyId ?? null,
    format: row.format,
    model: row.model ?? null,
    answered_by: answeredBy,
    slot: row.slot ?? null,
    status: row.status,
    code: row.code ?? null,
    failed: row.failed,
    first_event_ms: row.firstEventMs ?? null,
    duration_ms: row.durationMs,
    stages: stages.map(({ stage, ms, skipped = false }) => ({ stage, ms, skipped })),
    calls: calls.map(({ slot, model = null, ms, code = null }) => ({ slot, model, ms, code })),
    billed: row.billed,
    shown: row.shown,
  };
}
