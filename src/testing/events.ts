import { createParser } from 'eventsource-parser';
import {
  EventStream,
  ModelEvent,
  type ContentBlock,
  type MessagesStreamEvent,
  type ModelEventBatch,
  type ModelEvents,
  type ModelReply,
  type StopReason,
  type Usage,
} from '../plugin/index.js';

/** Content of one read: an event, several at once, or a failure. */
export type Batch = MessagesStreamEvent | readonly MessagesStreamEvent[] | Error;

/** Model events, one batch for each argument; an `Error` is thrown in its place. */
export function eventsOf(...batches: readonly Batch[]): EventStream {
  return EventStream.from(generated(batches));
}

async function* generated(batches: readonly Batch[]): AsyncGenerator<ModelEventBatch> {
  for (const batch of batches) {
    if (batch instanceof Error) throw batch;
    yield [batch].flat().map((event) => ModelEvent.of(event));
  }
}

/** Named events of a recorded SSE body, their text unchanged, one event for each batch. */
export function recordedEvents(sse: string): EventStream {
  return EventStream.from(recorded(sse));
}

async function* recorded(sse: string): AsyncGenerator<ModelEventBatch> {
  const events: ModelEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => event !== undefined && events.push(new ModelEvent(event, data)),
  });
  parser.feed(`${sse}\n\n`);
  for (const event of events) yield [event];
}

export interface MessageOptions {
  readonly text?: string;
  /** In place of `text`. */
  readonly content?: readonly ContentBlock[];
  readonly id?: string;
  readonly model?: string;
  readonly stopReason?: StopReason | null;
  /** Usage in `message_start`; the default has input and output tokens. */
  readonly usage?: Usage;
  /** Usage in `message_delta`; the default has output tokens. */
  readonly finalUsage?: Usage;
}

/** The events of one whole turn, as a Messages upstream sends them. */
export function messageEvents(options: MessageOptions = {}): readonly MessagesStreamEvent[] {
  const { text = 'Hello.', content = [{ type: 'text', text }], stopReason = 'end_turn' } = options;
  return [
    { type: 'message_start', message: openMessage(options) },
    ...content.flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: options.finalUsage ?? { output_tokens: 5 },
    },
    { type: 'message_stop' },
  ];
}

function openMessage({ id, model, usage }: MessageOptions) {
  return {
    id: id ?? 'msg_1',
    type: 'message' as const,
    role: 'assistant' as const,
    model: model ?? 'test-model',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: usage ?? { input_tokens: 10, output_tokens: 1 },
  };
}

/**
 * Events of one block: it opens empty and grows by deltas; a type without deltas is complete at its start.
 */
function blockEvents(block: ContentBlock, index: number): readonly MessagesStreamEvent[] {
  const [open, deltas] = unfold(block);
  return [
    { type: 'content_block_start', index, content_block: open },
    ...deltas.map((delta) => ({ type: 'content_block_delta' as const, index, delta })),
    { type: 'content_block_stop', index },
  ];
}

type Delta = Extract<MessagesStreamEvent, { type: 'content_block_delta' }>['delta'];

function unfold(block: ContentBlock): [ContentBlock, readonly Delta[]] {
  if (block.type === 'text') return [{ ...block, text: '' }, [{ type: 'text_delta', text: block.text }]];
  if (block.type === 'thinking')
    return [
      { ...block, thinking: '', signature: '' },
      [
        { type: 'thinking_delta', thinking: block.thinking },
        { type: 'signature_delta', signature: block.signature },
      ],
    ];
  if (block.type === 'tool_use' || block.type === 'server_tool_use')
    return [
      { ...block, input: {} },
      [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }],
    ];
  return [block, []];
}

/** A committed reply; the default events are one short turn in a single batch. */
export function replyOf(
  events: ModelEvents = eventsOf(messageEvents()),
  overrides: Partial<ModelReply> = {},
): ModelReply {
  return {
    status: 200,
    headers: {},
    model: 'test-model',
    slot: 'a',
    attempts: 1,
    events: EventStream.from(events),
    ...overrides,
  };
}

/** Collects all events, parsed. Throws the error of the stream. */
export async function collectEvents(events: ModelEvents): Promise<readonly MessagesStreamEvent[]> {
  const seen: MessagesStreamEvent[] = [];
  for await (const batch of events) seen.push(...batch.map(({ json }) => json));
  return seen;
}
