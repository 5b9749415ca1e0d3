import type { LedgerRow, LedgerTokens, LedgerTrace, WireFormat } from '../../plugin/index.js';
import { tokenColumns, type LedgerRecord, type TokenRecord } from './tables.js';

/** A row as its table has it. */
export function toRecord(row: LedgerRow): LedgerRecord {
  return {
    id: row.id,
    at: row.atMs,
    request_id: row.requestId,
    key_id: row.keyId ?? '',
    slot: row.slot ?? '',
    model: row.model ?? '',
    format: row.format,
    status: row.status,
    code: row.code ?? null,
    failed: Number(row.failed),
    streamed: Number(row.streamed),
    attempts: row.attempts,
    first_event_ms: row.firstEventMs ?? null,
    duration_ms: row.durationMs,
    ...toTokenRecord(row.billed, row.shown),
    trace: row.trace ? writeTrace(row.trace) : null,
  };
}

/** Also of a record without its trace. */
export function fromRecord(
  record: Omit<LedgerRecord, 'trace'> & { readonly trace?: string | null },
): LedgerRow {
  return {
    id: record.id,
    atMs: record.at,
    requestId: record.request_id,
    ...(record.key_id !== '' && { keyId: record.key_id }),
    ...(record.slot !== '' && { slot: record.slot }),
    ...(record.model !== '' && { model: record.model }),
    format: record.format as WireFormat, // as `toRecord` wrote it
    status: record.status,
    ...(record.code !== null && { code: record.code }),
    failed: record.failed === 1,
    streamed: record.streamed === 1,
    attempts: record.attempts,
    ...(record.first_event_ms !== null && { firstEventMs: record.first_event_ms }),
    durationMs: record.duration_ms,
    ...fromTokenRecord(record),
    ...(typeof record.trace === 'string' && { trace: readTrace(record.trace) }),
  };
}

/** Without the names of the fields, which would be most of it. */
function writeTrace({ stages, calls }: LedgerTrace): string {
  return JSON.stringify([
    stages.map(({ stage, ms }) => [stage, ms]),
    calls.map(({ slot, ms, code }) => (code === undefined ? [slot, ms] : [slot, ms, code])),
  ]);
}

function readTrace(text: string): LedgerTrace {
  const [stages, calls] = JSON.parse(text) as WrittenTrace; // as `writeTrace` wrote it
  return {
    stages: stages.map(([stage, ms]) => ({ stage, ms })),
    calls: calls.map(([slot, ms, code]) => (code === undefined ? { slot, ms } : { slot, ms, code })),
  };
}

type WrittenTrace = readonly [
  stages: readonly (readonly [stage: string, ms: number])[],
  calls: readonly (readonly [slot: string, ms: number, code?: string])[],
];

function toTokenRecord(billed: LedgerTokens, shown: LedgerTokens): TokenRecord {
  const record: Record<string, number> = {};
  for (const [field, billedColumn, shownColumn] of tokenColumns) {
    record[billedColumn] = billed[field];
    record[shownColumn] = shown[field];
  }
  return record as TokenRecord; // the table names each column once
}

/** Both sides of the tokens of a row, or of a sum. */
export function fromTokenRecord(record: TokenRecord): Pick<LedgerRow, 'billed' | 'shown'> {
  const side = (column: 1 | 2) =>
    Object.fromEntries(
      tokenColumns.map((names) => [names[0], record[names[column]]]),
    ) as unknown as LedgerTokens; // each field once
  return { billed: side(1), shown: side(2) };
}
