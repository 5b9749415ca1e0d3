import type { LedgerCost } from '../../state/ledger/contract.js';
import type { Logger, Usage } from '../../plugin/index.js';
import { logAccess } from '../telemetry/logs.js';
import { tokensOf, type RequestRecord } from './request-record.js';

/**
 * Writes the line of a request, with the cost if it is known: info for callers' requests, debug for health and the
 * like.
 */
export function logRequest(log: Logger, record: RequestRecord, cost?: LedgerCost): void {
  const line = lineOf(record, cost);
  logAccess(log, record.operation === 'other' && record.status < 400 ? 'debug' : 'info', line);
}

/** Log line, built field by field: a rest pattern over the record would be the slowest part of the line. */
function lineOf(record: RequestRecord, cost: LedgerCost | undefined): object {
  const { billed, masked, waitingFor, calls, queueMs } = record;
  return {
    id: record.id,
    client: record.client,
    method: record.method,
    path: record.path,
    operation: record.operation,
    format: record.format,
    status: record.status,
    outcome: record.outcome,
    ms: record.ms,
    firstEventMs: record.firstEventMs,
    key: record.key,
    model: cut(record.model),
    slot: record.slot,
    attempts: record.attempts,
    delivery: record.delivery,
    code: record.code,
    upstreamRequestId: record.upstreamRequestId,
    tokens: tokensOf(billed),
    ...(queueMs > 0 && { queueMs }),
    ...(calls.some(({ code }) => code !== undefined) && { calls: calls.slice(0, maxCalls).map(callOf) }),
    ...(record.answeredBy !== undefined && { answeredBy: cut(record.answeredBy) }),
    ...(waitingFor && { stage: waitingFor.place.stage, stageMs: Math.round(waitingFor.ms) }),
    ...(hasTokens(masked) && { masked: tokensOf(masked) }),
    ...(cost && { costUsd: cost.billed / 1e9 }),
  };
}

/** Name of a model for a log line: callers may write any text there. */
function cut(model: string | undefined): string | undefined {
  return model === undefined || model.length <= maxModel ? model : `${model.slice(0, maxModel)}…`;
}

const maxModel = 200;

/** Upstream calls that a line names: a stage may call the model any number of times. */
const maxCalls = 20;

function callOf({ slot, ms, code }: RequestRecord['calls'][number]): object {
  return { slot, ms: Math.round(ms), code };
}

function hasTokens(usage: Usage): boolean {
  return Object.keys(usage).length > 0;
}
