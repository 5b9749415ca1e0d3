import type { MessagesRequest } from '../../plugin/index.js';
import type { TracedCall } from '../../engine/trace/upstream-call-timer.js';
import type { RequestRecord } from '../../gateway/settle/request-record.js';
import { attributesOf, cut, type AttributeEntry } from './attributes.js';
import { genAiNames, providerOf, type Conventions, type GenAiNames } from './conventions.js';
import { randomId, type SpanIds } from './trace-context.js';
import type { SpanData, TracedRequest, TracedSlot } from './traced-request.js';

type Entries = readonly AttributeEntry[];

interface CallParts {
  readonly request: TracedRequest;
  readonly conventions: Conventions;
  readonly parent: SpanIds;
  /** True for the call behind the caller's answer: its span ends with the answer, and has the usage. */
  readonly isAnswer: boolean;
}

export function callSpan(call: TracedCall, { request, conventions, parent, isAnswer }: CallParts): SpanData {
  const { context, record, endedMs, row, sent } = request;
  const names = genAiNames[conventions];
  const slot = request.slotOf(call.slot);
  const model = call.model ?? record.model;
  const operation = operationOf(record);
  const isUnderWay = call.ms === 0; // it has neither answered nor failed
  const error = call.code ?? (isAnswer ? record.brokenBy : undefined);
  const isTimed = isAnswer && record.firstEventMs !== undefined;
  return {
    traceId: context.traceId,
    spanId: call.spanId ?? randomId(8),
    parent,
    state: context.state,
    name: model === undefined ? operation : `${operation} ${cut(model)}`,
    kind: 'client',
    beganMs: call.beganMs,
    endedMs: isAnswer || isUnderWay ? endedMs : call.beganMs + call.ms,
    error,
    attributes: attributesOf([
      ['gw2api.slot', call.slot],
      ['gw2api.upstream', slot?.kind],
      ['gw2api.upstream.request_id', isAnswer ? record.upstreamRequestId : undefined],
      ['error.type', error],
      ...addressAttributes(slot?.baseUrl),
      [names.operation, operation],
      [names.provider, providerIn(slot, conventions)],
      [names.requestModel, model],
      [names.conversation, row?.session],
      [names.stream, record.delivery === 'stream'],
      ...settingAttributes(sent, names),
      ...(isAnswer ? answerAttributes(record, names) : []),
      [names.timeToFirstChunk, isTimed ? call.ms / 1000 : undefined],
    ]),
  };
}

function operationOf({ operation, format }: RequestRecord): string {
  if (operation === 'count-tokens') return 'count_tokens';
  return format === 'completions' ? 'text_completion' : 'chat';
}

function providerIn(slot: TracedSlot | undefined, conventions: Conventions): string | undefined {
  return slot && providerOf(slot.kind, slot.preset, conventions);
}

function settingAttributes(sent: MessagesRequest | undefined, names: GenAiNames): Entries {
  if (!sent) return [];
  const { max_tokens: maxTokens, temperature, top_p: topP, top_k: topK, stop_sequences: stops } = sent;
  return [
    [names.maxTokens, numberOf(maxTokens)],
    [names.temperature, numberOf(temperature)],
    [names.topP, numberOf(topP)],
    [names.topK, numberOf(topK)],
    [names.stopSequences, Array.isArray(stops) ? stops.slice(0, 20).map(String) : undefined],
  ];
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function answerAttributes({ billed, answeredBy, model }: RequestRecord, names: GenAiNames): Entries {
  const responseModel: AttributeEntry = [names.responseModel, answeredBy ?? model];
  if (Object.keys(billed).length === 0) return [responseModel];
  const cacheReadTokens = tokens(billed.cache_read_input_tokens);
  const cacheWriteTokens = tokens(billed.cache_creation_input_tokens);
  const inputTokens = tokens(billed.input_tokens) + cacheReadTokens + cacheWriteTokens;
  return [
    responseModel,
    [names.inputTokens, inputTokens],
    [names.outputTokens, tokens(billed.output_tokens)],
    [names.cacheReadTokens, cacheReadTokens],
    [names.cacheWriteTokens, cacheWriteTokens],
  ];
}

/** Tokens of a usage report; -1 from some upstreams means unknown. */
function tokens(count: number | null | undefined): number {
  return Math.max(0, count ?? 0);
}

function addressAttributes(baseUrl: string | undefined): Entries {
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return [];
  const { hostname, port, protocol } = new URL(baseUrl);
  const known = protocol === 'https:' ? 443 : 80;
  return [
    ['server.address', hostname],
    ['server.port', Number(port) || known],
  ];
}
