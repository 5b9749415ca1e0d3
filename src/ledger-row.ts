import { randomUUID } from 'node:crypto';
import type { Exchange } from './http/exchange.js';
import { ledgerTokens, type LedgerRow, type LedgerTrace, type Timeline } from './plugin/index.js';
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
    ...ledgerTokens(record),
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
