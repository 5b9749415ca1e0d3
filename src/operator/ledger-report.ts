import type { Static } from 'typebox';
import type { CacheLoss, LedgerCost, LedgerRow, LedgerRowKey } from '../state/ledger/contract.js';
import type { LedgerTokens } from '../plugin/core.js';
import type { Cost, RequestDetail, RequestReport, Tokens } from './schemas.js';

/** A row of the ledger as sent by the console API. */
export function requestReport(
  row: LedgerRow,
  nameOf: (keyId: string) => string,
): Static<typeof RequestReport> {
  const { keyId } = row;
  return {
    id: `${row.atMs}.${row.id}`,
    at: new Date(row.atMs).toISOString(),
    request_id: row.requestId,
    key: keyId === undefined ? null : { id: keyId, name: nameOf(keyId) },
    team: row.team ?? null,
    session: row.session ?? null,
    slot: row.slot ?? null,
    model: row.model ?? null,
    asked_model: row.askedModel ?? row.model ?? null,
    format: row.format,
    status: row.status,
    code: row.code ?? null,
    failed: row.failed,
    streamed: row.streamed,
    attempts: row.attempts,
    first_event_ms: row.firstEventMs ?? null,
    duration_ms: row.durationMs,
    queue_ms: row.queueMs ?? null,
    output_ms: row.outputMs ?? null,
    billed: tokensReport(row.billed),
    shown: tokensReport(row.shown),
    estimated: row.estimated ?? false,
    cost: row.cost ? costReport(row.cost) : null,
    tags: row.tags ?? {},
    cache: row.cache ? cacheReport(row.cache) : null,
  };
}

/** A row of the ledger with the times of its stages and its upstream calls. */
export function requestDetail(
  row: LedgerRow,
  nameOf: (keyId: string) => string,
): Static<typeof RequestDetail> {
  const { stages = [], calls = [], answeredBy = null } = row.trace ?? {};
  return {
    ...requestReport(row, nameOf),
    answered_by: answeredBy,
    additions: Object.entries(row.additions ?? {}).map(([stage, { tokens, cost }]) => ({
      stage,
      tokens: tokensReport(tokens),
      cost_usd: cost === undefined ? null : cost / nanoUsd,
    })),
    stages: stages.map(({ stage, ms, skipped = false }) => ({ stage, ms, skipped })),
    calls: calls.map(({ slot, model = null, ms, code = null }) => ({ slot, model, ms, code })),
  };
}

export function costReport({ billed, shown }: LedgerCost): Static<typeof Cost> {
  return { billed_usd: billed / nanoUsd, shown_usd: shown / nanoUsd };
}

/** Time and id of the row that a report's `id` stands for; the ledger needs the time to find it. */
export function rowOf(reportId: string): LedgerRowKey | undefined {
  const [, at, id] = /^(\d{1,15})\.(.{1,100})$/.exec(reportId) ?? [];
  return at === undefined || id === undefined ? undefined : { atMs: Number(at), id };
}

function cacheReport({ cause, detail, lostTokens, lostCost }: CacheLoss) {
  const lostUsd = lostCost === undefined ? null : lostCost / nanoUsd;
  return { cause, detail: detail ?? null, lost_tokens: lostTokens, lost_usd: lostUsd };
}

/** Part of the input that was read from the prompt cache; null without input. */
export function cacheHitRatio({ input, cacheRead, cacheWrite5m, cacheWrite1h }: LedgerTokens): number | null {
  const all = input + cacheRead + cacheWrite5m + cacheWrite1h;
  return all === 0 ? null : Math.round((cacheRead / all) * 1e4) / 1e4;
}

/** Nano-USD in a USD. */
export const nanoUsd = 1e9;

export function tokensReport(tokens: LedgerTokens): Static<typeof Tokens> {
  return {
    input: tokens.input,
    cache_read: tokens.cacheRead,
    cache_write_5m: tokens.cacheWrite5m,
    cache_write_1h: tokens.cacheWrite1h,
    output: tokens.output,
  };
}
