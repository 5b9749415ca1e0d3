import type { TracedCall } from '../../engine/trace/upstream-call-timer.js';
import type { TracedStage } from '../../engine/trace/stage-clock.js';
import { attributesOf } from './attributes.js';
import { callSpan } from './call-span.js';
import type { Conventions } from './conventions.js';
import { randomId } from './trace-context.js';
import type { SpanData, TracedRequest } from './traced-request.js';

/** Spans of a request, or of the call of a stage: one for itself, one for each stage and one for each upstream call. */
export function spansOf(request: TracedRequest, conventions: Conventions): readonly SpanData[] {
  const stages = request.stages.slice(0, maxSpans);
  const spans = [
    request.call ? stageCallSpan(request, request.call) : serverSpan(request),
    ...stages.map((stage) => stageSpan(stage, request)),
  ];
  const answer = request.calls.findLast(isAnswered);
  for (const call of request.calls.slice(-maxSpans)) {
    const at = call.by ? stages.indexOf(call.by) : -1;
    const parent = spans[at + 1] ?? request.context; // the first span is that of the request
    spans.push(callSpan(call, { request, conventions, parent, isAnswer: call === answer }));
  }
  return spans;
}

/** Max spans of one sort: a stage that calls the model in a loop makes any number of calls. */
const maxSpans = 100;

/** True for a call that has not failed, and was not running when the request ended. */
function isAnswered({ code, ms }: TracedCall): boolean {
  return code === undefined && ms > 0;
}

function serverSpan(request: TracedRequest): SpanData {
  const { context, record, beganMs, endedMs, route, row } = request;
  const hasFailed = record.status >= 500 || record.outcome === 'failed';
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    parent: context.parent,
    state: context.state,
    name: `${record.method} ${route}`,
    kind: 'server',
    beganMs,
    endedMs,
    error: hasFailed ? (record.code ?? String(record.status)) : undefined,
    attributes: attributesOf([
      ['http.request.method', record.method],
      ['http.route', route],
      ['http.response.status_code', record.status],
      ['url.path', record.path],
      ['client.address', record.client],
      ['error.type', record.code],
      ['gw2api.request.id', record.id],
      ['gw2api.operation', record.operation],
      ['gw2api.format', record.format],
      ['gw2api.key.id', record.key],
      ['gw2api.team.id', row?.team],
      ['gw2api.model', record.model],
      ['gw2api.slot', record.slot],
      ['gw2api.attempts', record.attempts],
      ['gw2api.outcome', record.outcome],
      ['gw2api.cost.usd', row?.cost && row.cost.billed / 1e9],
    ]),
  };
}

/** Span of a call that a stage made, within that of its request. */
function stageCallSpan(
  { context, record, beganMs, endedMs, row }: TracedRequest,
  { label, stage }: NonNullable<TracedRequest['call']>,
): SpanData {
  return {
    traceId: context.traceId,
    spanId: randomId(8),
    parent: context,
    state: context.state,
    name: `call ${label}`,
    kind: 'internal',
    beganMs,
    endedMs,
    error: record.outcome === 'failed' ? (record.code ?? String(record.status)) : undefined,
    attributes: attributesOf([
      ['gw2api.call.label', label],
      ['gw2api.stage', stage],
      ['error.type', record.code],
      ['gw2api.request.id', record.id],
      ['gw2api.key.id', record.key],
      ['gw2api.team.id', row?.team],
      ['gw2api.model', record.model],
      ['gw2api.slot', record.slot],
      ['gw2api.attempts', record.attempts],
      ['gw2api.outcome', record.outcome],
      ['gw2api.cost.usd', row?.cost && row.cost.billed / 1e9],
    ]),
  };
}

/**
 * Span of a stage, whose own time has seven digits: the full precision of a double would double its size without use.
 */
function stageSpan(stage: TracedStage, { context, endedMs }: TracedRequest): SpanData {
  return {
    traceId: context.traceId,
    spanId: randomId(8),
    parent: context,
    state: context.state,
    name: stage.stage,
    kind: 'internal',
    beganMs: stage.beganMs,
    endedMs: Math.max(stage.beganMs, stage.endedMs ?? endedMs),
    error: undefined,
    attributes: attributesOf([
      ['gw2api.stage', stage.stage],
      ['gw2api.stage.own_time', Math.round(stage.ms * 1e4) / 1e7],
      ['gw2api.stage.skipped', stage.skipped],
    ]),
  };
}
