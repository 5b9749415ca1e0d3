import type { LedgerRow, LedgerTrace } from '../../plugin/internal.js';
import type { LedgerRecord, TokenRecord } from './tables.js';

/** Adds what a row has for `writtenColumns`, in their order. */
export function writeRow(row: LedgerRow, values: unknown[]): void {
  values.push(row.id, row.atMs, row.requestId);
  values.push(row.keyId ?? '', row.slot ?? '', row.model ?? '', row.format);
  values.push(row.status, row.code ?? null, Number(row.failed), Number(row.streamed), row.attempts);
  values.push(row.firstEventMs ?? null, row.durationMs);
  writeTokens(row, values);
  values.push(row.tags ? JSON.stringify(row.tags) : null);
  values.push(row.trace ? writeTrace(row.trace) : null);
}

/** Adds what both sides of the tokens have for `tokenColumns`. */
export function writeTokens({ billed, shown }: Pick<LedgerRow, 'billed' | 'shown'>, values: unknown[]): void {
  values.push(billed.input, shown.input, billed.cacheRead, shown.cacheRead);
  values.push(billed.cacheWrite5m, shown.cacheWrite5m, billed.cacheWrite1h, shown.cacheWrite1h);
  values.push(billed.output, shown.output);
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
    format: record.format,
    status: record.status,
    ...(record.code !== null && { code: record.code }),
    failed: record.failed === 1,
    streamed: record.streamed === 1,
    attempts: record.attempts,
    ...(record.first_event_ms !== null && { firstEventMs: record.first_event_ms }),
    durationMs: record.duration_ms,
    ...fromTokenRecord(record),
    ...(record.tags !== null && { tags: JSON.parse(record.tags) as NonNullable<LedgerRow['tags']> }), // as written
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

/** Billed and shown tokens of a row, or of a sum. */
export function fromTokenRecord(record: TokenRecord): Pick<LedgerRow, 'billed' | 'shown'> {
  return {
    billed: {
      input: record.input_tokens,
      cacheRead: record.cache_read_tokens,
      cacheWrite5m: record.cache_write_5m_tokens,
      cacheWrite1h: record.cache_write_1h_tokens,
      output: record.output_tokens,
    },
    shown: {
      input: record.shown_input_tokens,
      cacheRead: record.shown_cache_read_tokens,
      cacheWrite5m: record.shown_cache_write_5m_tokens,
      cacheWrite1h: record.shown_cache_write_1h_tokens,
      output: record.shown_output_tokens,
    },
  };
}
