import { randomUUID } from 'node:crypto';
import type { Exchange } from './http/exchange.js';
import type { LedgerRow, LedgerTokens, LedgerTrace, Timeline, Usage } from './plugin/index.js';
import type { RequestRecord } from './telemetry/request-log.js';

/** What the ledger keeps of a request to a model whose response has closed; undefined for every other request. */
export function ledgerRowOf({ ctx, startedMs }: Exchange, record: RequestRecord): LedgerRow | undefined {
  const { requestId, caller, operation, format, firstEventAtMs } = ctx.state;
  if (operation !== 'generate' || !caller) return undefined;
  const { slot, model, code, status, outcome } = record;
  return {
    id: randomUUID(),
    atMs: startedMs,
    requestId,
    keyId: caller.keyId,
    ...(slot !== undefined && { slot }),
    ...(model !== undefined && { model: plainText(model) }),
    format,
    status,
    ...(code !== undefined && { code: plainText(code) }),
    failed: outcome === 'failed' || (status >= 400 && outcome !== 'abandoned'),
    streamed: record.delivery === 'stream',
    attempts: record.attempts ?? 0,
    ...(firstEventAtMs !== undefined && { firstEventMs: firstEventAtMs - startedMs }),
    durationMs: record.ms,
    ...tokensOf(record.billed, record.masked),
    trace: traceOf(ctx.state.timeline),
  };
}

/** As much of it as any sound pipeline has: a request that loops must not make a row of megabytes. */
function traceOf({ stages, calls }: Timeline): LedgerTrace {
  return {
    stages: stages.slice(0, mostTraced).map(({ stage, ms }) => ({ stage: plainText(stage), ms })),
    calls: calls
      .slice(0, mostTraced)
      .map(({ slot, ms, code }) => ({ slot, ms, ...(code !== undefined && { code: plainText(code) }) })),
  };
}

const mostTraced = 100;

/** Callers and upstreams write these: no database takes everything that a JSON string may hold, nor of any length. */
function plainText(text: string): string {
  return text.replaceAll('\0', '').slice(0, longestText);
}

const longestText = 200;

/** What is hidden of what was written to the cache is the hour's part first, as usage-mask takes it. */
function tokensOf(billed: Usage, masked: Usage): Pick<LedgerRow, 'billed' | 'shown'> {
  const all = countsOf(billed);
  const hiddenWrites = count(masked.cache_creation_input_tokens);
  const hidden1h = Math.min(hiddenWrites, all.cacheWrite1h);
  const shown = {
    input: less(all.input, count(masked.input_tokens)),
    cacheRead: less(all.cacheRead, count(masked.cache_read_input_tokens)),
    cacheWrite5m: less(all.cacheWrite5m, hiddenWrites - hidden1h),
    cacheWrite1h: less(all.cacheWrite1h, hidden1h),
    output: less(all.output, count(masked.output_tokens)),
  };
  return { billed: all, shown };
}

function less(all: number, hidden: number): number {
  return Math.max(0, all - hidden);
}

/** What an upstream wrote to its cache without saying for how long, it wrote for five minutes. */
function countsOf(usage: Usage): LedgerTokens {
  const written = count(usage.cache_creation_input_tokens);
  const cacheWrite1h = Math.min(count(usage.cache_creation?.ephemeral_1h_input_tokens), written);
  return {
    input: count(usage.input_tokens),
    cacheRead: count(usage.cache_read_input_tokens),
    cacheWrite5m: written - cacheWrite1h,
    cacheWrite1h,
    output: count(usage.output_tokens),
  };
}

/** Upstreams write usage, so that it may be anything. */
function count(tokens: unknown): number {
  return typeof tokens === 'number' && Number.isFinite(tokens) && tokens > 0 ? Math.round(tokens) : 0;
}
