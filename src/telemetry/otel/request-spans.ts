import type { LedgerRow, MessagesRequest, TracedCall, TracedStage } from '../../plugin/internal.js';
import type { RequestRecord } from '../request-record.js';
import { attributesOf, cut, type Attribute } from './attributes.js';
import { genAiAttributes, providerOf, type Conventions } from './conventions.js';
import { randomId, type SpanIds, type TraceContext } from './trace-context.js';

/** Slot of an upstream call. */
export interface TracedSlot {
  /** Kind of its upstream. */
  readonly kind: string;
  /** Preset of `upstream: chat`. */
  readonly preset: string | undefined;
  readonly baseUrl: string | undefined;
}

/** A request whose response has closed. */
export interface TracedRequest {
  readonly context: TraceContext;
  readonly record: RequestRecord;
  /** Start and end of the request, of its stages and of its calls: milliseconds of `performance.now()`. */
  readonly beganMs: number;
  readonly endedMs: number;
  readonly stages: readonly TracedStage[];
  readonly calls: readonly TracedCall[];
  /** Matched route, without the values of its parameters. */
  readonly route: string;
  /** Request as the last call sent it. */
  readonly sent: MessagesRequest | undefined;
  readonly row: LedgerRow | undefined;
  readonly slotOf: (id: string) => TracedSlot | undefined;
}

/** One span, with its times as `TracedRequest` has them. */
export interface SpanData extends SpanIds {
  readonly parent: SpanIds | undefined;
  readonly name: string;
  readonly kind: 'server' | 'internal' | 'client';
  readonly beganMs: number;
  readonly endedMs: number;
  readonly attributes: readonly Attribute[];
  /** Code of the error that it ended with. */
  readonly error: string | undefined;
}

/** Spans of a request: one for itself, one for each stage and one for each upstream call. */
export function spansOf(request: TracedRequest, conventions: Conventions): readonly SpanData[] {
  const stages = request.stages.slice(0, maxSpans).map((stage) => stageSpan(stage, request));
  const byStage = new Map(request.stages.map((stage, at) => [stage, stages[at]]));
  const answer = request.calls.findLast(isAnswered);
  const calls = request.calls.slice(-maxSpans).map((call) => {
    const parent = (call.by && byStage.get(call.by)) ?? request.context;
    return callSpan(call, { request, conventions, parent, isAnswer: call === answer });
  });
  return [serverSpan(request), ...stages, ...calls];
}

/** Max spans of one sort: a stage that calls the model in a loop makes any number of calls. */
const maxSpans = 100;

/** True for a call that has not failed, and was not under way when the request ended. */
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
    name: `${record.method} ${route}`,
    kind: 'server',
    beganMs,
    endedMs,
    error: hasFailed ? (record.code ?? String(record.status)) : undefined,
    attributes: attributesOf({
      'http.request.method': record.method,
      'http.route': route,
      'http.response.status_code': record.status,
      'url.path': record.path,
      'client.address': record.client,
      'error.type': record.code,
      'gw2api.request.id': record.id,
      'gw2api.operation': record.operation,
      'gw2api.format': record.format,
      'gw2api.key.id': record.key,
      'gw2api.team.id': row?.team,
      'gw2api.model': record.model,
      'gw2api.slot': record.slot,
      'gw2api.attempts': record.attempts,
      'gw2api.outcome': record.outcome,
      'gw2api.cost.usd': row?.cost && row.cost.billed / 1e9,
    }),
  };
}

function stageSpan(stage: TracedStage, { context, endedMs }: TracedRequest): SpanData {
  return {
    traceId: context.traceId,
    spanId: randomId(8),
    parent: context,
    name: stage.stage,
    kind: 'internal',
    beganMs: stage.beganMs,
    endedMs: Math.max(stage.beganMs, stage.endedMs ?? endedMs),
    error: undefined,
    attributes: attributesOf({
      'gw2api.stage': stage.stage,
      'gw2api.stage.own_time': stage.ms / 1000,
      'gw2api.stage.skipped': stage.skipped,
    }),
  };
}

interface CallParts {
  readonly request: TracedRequest;
  readonly conventions: Conventions;
  readonly parent: SpanIds;
  /** True for the call whose answer the caller got: its span ends with the answer, and has the usage. */
  readonly isAnswer: boolean;
}

function callSpan(call: TracedCall, { request, conventions, parent, isAnswer }: CallParts): SpanData {
  const { context, record, endedMs, row, sent } = request;
  const slot = request.slotOf(call.slot);
  const model = call.model ?? record.model;
  const operation = operationOf(record);
  const isUnderWay = call.ms === 0; // it has neither answered nor failed
  return {
    traceId: context.traceId,
    spanId: call.spanId ?? randomId(8),
    parent,
    name: model === undefined ? operation : `${operation} ${cut(model)}`,
    kind: 'client',
    beganMs: call.beganMs,
    endedMs: isAnswer || isUnderWay ? endedMs : call.beganMs + call.ms,
    error: call.code ?? (isAnswer ? record.brokenBy : undefined),
    attributes: [
      ...attributesOf({
        'gw2api.slot': call.slot,
        'gw2api.upstream': slot?.kind,
        'gw2api.upstream.request_id': isAnswer ? record.upstreamRequestId : undefined,
        'error.type': call.code ?? (isAnswer ? record.brokenBy : undefined),
        ...addressOf(slot?.baseUrl),
      }),
      ...genAiAttributes(
        {
          operation,
          provider: slot && providerOf(slot.kind, slot.preset, conventions),
          requestModel: model,
          conversation: row?.session,
          stream: record.delivery === 'stream',
          ...settingsOf(sent),
          ...(isAnswer && answerOf(record)),
          timeToFirstChunk: isAnswer && record.firstEventMs !== undefined ? call.ms / 1000 : undefined,
        },
        conventions,
      ),
    ],
  };
}

function operationOf({ operation, format }: RequestRecord): string {
  if (operation === 'count-tokens') return 'count_tokens';
  return format === 'completions' ? 'text_completion' : 'chat';
}

function settingsOf(sent: MessagesRequest | undefined) {
  if (!sent) return {};
  const { max_tokens: maxTokens, temperature, top_p: topP, top_k: topK, stop_sequences: stops } = sent;
  return {
    maxTokens: numberOf(maxTokens),
    temperature: numberOf(temperature),
    topP: numberOf(topP),
    topK: numberOf(topK),
    stopSequences: Array.isArray(stops) ? stops.slice(0, 20).map(String) : undefined,
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function answerOf({ billed, answeredBy, model }: RequestRecord) {
  const cacheReadTokens = tokens(billed.cache_read_input_tokens);
  const cacheWriteTokens = tokens(billed.cache_creation_input_tokens);
  const hasUsage = Object.keys(billed).length > 0;
  return {
    responseModel: answeredBy ?? model,
    ...(hasUsage && {
      inputTokens: tokens(billed.input_tokens) + cacheReadTokens + cacheWriteTokens,
      outputTokens: tokens(billed.output_tokens),
      cacheReadTokens,
      cacheWriteTokens,
    }),
  };
}

/** Tokens of a usage report; an upstream that does not know them may say -1. */
function tokens(count: number | null | undefined): number {
  return Math.max(0, count ?? 0);
}

function addressOf(baseUrl: string | undefined): Readonly<Record<string, string | number>> {
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return {};
  const { hostname, port, protocol } = new URL(baseUrl);
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) };
}
