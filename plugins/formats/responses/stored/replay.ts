import { sseEvent } from '@gw2api/gateway/plugin/format';
import type { ResponseObject } from '../answer.js';
import type { Item } from '../item.js';
import { isRecord } from '../../shared/body.js';
import { sseDone } from '../../shared/answer/sse.js';

interface Event {
  readonly type: string;
  readonly fields: object;
}

/**
 * Replays a finished response as the events of a stream without pauses, each text in one delta. Skips the
 * events numbered up to `startingAfter`, except the last, which carries the whole response.
 */
export function* replayResponse(response: ResponseObject, startingAfter = -1): Generator<string, void> {
  let sequence = 0;
  for (const { type, fields } of eventsBefore(response)) {
    if (sequence > startingAfter) yield numbered(type, sequence, fields);
    sequence += 1;
  }
  yield numbered(`response.${String(response['status'])}`, Math.max(sequence, startingAfter + 1), {
    response,
  });
  yield sseDone;
}

function numbered(type: string, sequence_number: number, fields: object): string {
  return sseEvent(type, JSON.stringify({ type, sequence_number, ...fields }));
}

/** All events but the last. */
function* eventsBefore(response: ResponseObject): Generator<Event, void> {
  const { output } = response;
  const begun = {
    ...response,
    status: 'in_progress',
    completed_at: null,
    incomplete_details: null,
    output: [],
    usage: null,
  };
  yield { type: 'response.created', fields: { response: begun } };
  yield { type: 'response.in_progress', fields: { response: begun } };
  const items = Array.isArray(output) ? output.filter(isRecord) : [];
  for (const [output_index, item] of items.entries()) yield* eventsOf(item, output_index);
}

function* eventsOf(item: Item, output_index: number): Generator<Event, void> {
  const { id: item_id, type } = item;
  yield { type: 'response.output_item.added', fields: { output_index, item: beginningOf(item) } };
  const write = typeof type === 'string' && Object.hasOwn(writers, type) ? writers[type] : undefined;
  for (const event of write?.(item) ?? [])
    yield { type: `response.${event.type}`, fields: { item_id, output_index, ...event.fields } };
  yield { type: 'response.output_item.done', fields: { output_index, item } };
}

/** Item as it was when added: without the fields that later events fill in. */
function beginningOf(item: Item): Item {
  const { type, status: _, encrypted_content: _sealed, ...rest } = item;
  const empty = typeof type === 'string' && Object.hasOwn(beginnings, type) ? beginnings[type] : undefined;
  return { ...rest, type, ...(type !== 'reasoning' && { status: 'in_progress' }), ...empty };
}

const beginnings: Readonly<Record<string, object>> = {
  message: { content: [] },
  reasoning: { summary: [] },
  function_call: { arguments: '' },
  custom_tool_call: { input: '' },
};

/** Types without the `response.` in front, fields without those of the item. */
type ItemWriter = (item: Item) => Iterable<Event>;

const writers: Readonly<Record<string, ItemWriter>> = {
  message: function* message({ content }) {
    for (const [content_index, part] of records(content).entries()) {
      const at = { content_index };
      yield { type: 'content_part.added', fields: { ...at, part: emptyPart(part) } };
      yield* part['type'] === 'refusal' ? refusal(part, at) : outputText(part, at);
      yield { type: 'content_part.done', fields: { ...at, part } };
    }
  },
  reasoning: function* reasoning({ summary }) {
    for (const [summary_index, part] of records(summary).entries()) {
      const [at, text] = [{ summary_index }, part['text']];
      yield { type: 'reasoning_summary_part.added', fields: { ...at, part: { ...part, text: '' } } };
      yield { type: 'reasoning_summary_text.delta', fields: { ...at, delta: text } };
      yield { type: 'reasoning_summary_text.done', fields: { ...at, text } };
      yield { type: 'reasoning_summary_part.done', fields: { ...at, part } };
    }
  },
  function_call: function* functionCall({ name, arguments: text }) {
    if (text !== '') yield { type: 'function_call_arguments.delta', fields: { delta: text } };
    yield { type: 'function_call_arguments.done', fields: { name, arguments: text } };
  },
  custom_tool_call: function* customCall({ input }) {
    if (input !== '') yield { type: 'custom_tool_call_input.delta', fields: { delta: input } };
    yield { type: 'custom_tool_call_input.done', fields: { input } };
  },
  web_search_call: function* webSearch({ status }) {
    yield { type: 'web_search_call.in_progress', fields: {} };
    yield { type: 'web_search_call.searching', fields: {} };
    if (status === 'completed') yield { type: 'web_search_call.completed', fields: {} };
  },
};

function* outputText(part: Item, at: object): Generator<Event, void> {
  const { text, logprobs = [] } = part;
  if (text !== '') yield { type: 'output_text.delta', fields: { ...at, delta: text, logprobs } };
  for (const [annotation_index, annotation] of records(part['annotations']).entries())
    yield { type: 'output_text.annotation.added', fields: { ...at, annotation_index, annotation } };
  yield { type: 'output_text.done', fields: { ...at, text, logprobs } };
}

function* refusal(part: Item, at: object): Generator<Event, void> {
  yield { type: 'refusal.delta', fields: { ...at, delta: part['refusal'] } };
  yield { type: 'refusal.done', fields: { ...at, refusal: part['refusal'] } };
}

function emptyPart(part: Item): Item {
  const empty = { text: '', annotations: [], ...(part['logprobs'] !== undefined && { logprobs: [] }) };
  return part['type'] === 'refusal' ? { ...part, refusal: '' } : { ...part, ...empty };
}

function records(value: unknown): readonly Item[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
