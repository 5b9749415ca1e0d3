import type { CacheLoss, LedgerRow } from './contract.js';
import { readAdditions, readTrace, writeAdditions, writeTrace } from './ledger-json.js';
import {
  groupColumns,
  tokenColumns,
  type LedgerRecord,
  type TokenRecord,
} from '../store/sql/tables/tables.js';

/** Columns of a listed row: all but the trace. */
export const listedColumns = [
  'id',
  'at',
  'request_id',
  ...groupColumns,
  'status',
  'code',
  'failed',
  'streamed',
  'attempts',
  'first_event_ms',
  'first_token_ms',
  'duration_ms',
  'queue_ms',
  'output_ms',
  'session',
  'asked_model',
  ...tokenColumns.flatMap(([, billed, shown]) => [billed, shown]),
  'estimated',
  'billed_cost',
  'shown_cost',
  'additions',
  'cache_cause',
  'cache_detail',
  'cache_lost_tokens',
  'cache_lost_cost',
  'tags',
] as const satisfies readonly (keyof LedgerRecord)[];

/** In the order of `writeRow`. */
export const writtenColumns = [...listedColumns, 'trace'] as const;

/** Adds what a row has for `writtenColumns`, in their order. */
export function writeRow(row: LedgerRow, values: unknown[]): void {
  const { cost, additions, cache, tags, trace } = row;
  values.push(row.id, row.atMs, row.requestId);
  values.push(row.keyId ?? '', row.team ?? '', row.slot ?? '', row.model ?? '', row.format);
  values.push(row.status, row.code ?? null, Number(row.failed), Number(row.streamed), row.attempts);
  values.push(
    row.firstEventMs ?? null,
    row.firstTokenMs ?? null,
    row.durationMs,
    row.queueMs ?? null,
    row.outputMs ?? null,
  );
  values.push(row.session ?? null, row.askedModel ?? null);
  writeTokens(row, values);
  values.push(row.estimated ? 1 : null);
  values.push(cost?.billed ?? null, cost?.shown ?? null, additions ? writeAdditions(additions) : null);
  values.push(
    cache?.cause ?? null,
    cache?.detail ?? null,
    cache?.lostTokens ?? null,
    cache?.lostCost ?? null,
  );
  values.push(tags ? JSON.stringify(tags) : null, trace ? writeTrace(trace) : null);
}

/** Adds what both sides of the tokens have for `tokenColumns`. */
export function writeTokens({ billed, shown }: Pick<LedgerRow, 'billed' | 'shown'>, values: unknown[]): void {
  values.push(billed.input, shown.input, billed.cacheRead, shown.cacheRead);
  values.push(billed.cacheWrite5m, shown.cacheWrite5m, billed.cacheWrite1h, shown.cacheWrite1h);
  values.push(billed.output, shown.output);
}

type ListedRecord = Omit<LedgerRecord, 'trace'>;

/** Also of a record without its trace. */
export function fromRecord(record: ListedRecord & { readonly trace?: string | null }): LedgerRow {
  return {
    id: record.id,
    atMs: record.at,
    requestId: record.request_id,
    ...(record.key_id !== '' && { keyId: record.key_id }),
    ...(record.team !== '' && { team: record.team }),
    ...(record.session !== null && { session: record.session }),
    ...(record.slot !== '' && { slot: record.slot }),
    ...(record.model !== '' && { model: record.model }),
    ...(record.asked_model !== null && { askedModel: record.asked_model }),
    format: record.format,
    status: record.status,
    ...(record.code !== null && { code: record.code }),
    failed: record.failed === 1,
    streamed: record.streamed === 1,
    attempts: record.attempts,
    ...timesOf(record),
    ...fromTokenRecord(record),
    ...(record.estimated === 1 && { estimated: true }),
    ...moneyOf(record),
    ...(record.tags !== null && { tags: JSON.parse(record.tags) as NonNullable<LedgerRow['tags']> }), // as written
    ...(typeof record.trace === 'string' && { trace: readTrace(record.trace) }),
  };
}

function timesOf(
  record: ListedRecord,
): Pick<LedgerRow, 'firstEventMs' | 'firstTokenMs' | 'durationMs' | 'queueMs' | 'outputMs'> {
  return {
    ...(record.first_event_ms !== null && { firstEventMs: record.first_event_ms }),
    ...(record.first_token_ms !== null && { firstTokenMs: record.first_token_ms }),
    durationMs: record.duration_ms,
    ...(record.queue_ms !== null && { queueMs: record.queue_ms }),
    ...(record.output_ms !== null && { outputMs: record.output_ms }),
  };
}

function moneyOf(record: ListedRecord): Pick<LedgerRow, 'cost' | 'additions' | 'cache'> {
  const { billed_cost: billed, shown_cost: shown, additions } = record;
  const cache = cacheLossOf(record);
  return {
    ...(billed !== null && shown !== null && { cost: { billed, shown } }),
    ...(additions !== null && { additions: readAdditions(additions) }),
    ...(cache && { cache }),
  };
}

function cacheLossOf(record: ListedRecord): CacheLoss | undefined {
  const { cache_cause: cause, cache_detail: detail, cache_lost_cost: lostCost } = record;
  if (cause === null) return undefined;
  return {
    cause,
    ...(detail !== null && { detail }),
    lostTokens: record.cache_lost_tokens ?? 0,
    ...(lostCost !== null && { lostCost }),
  };
}

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
