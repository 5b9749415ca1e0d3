import { dispatch, type DispatchTable } from '../../kit/dispatch.js';
import type { ModelEvent, ModelEvents } from './events.js';
import type {
  ContentBlock,
  ContentBlockDeltaEvent,
  ContentBlockStartEvent,
  Delta,
  MessageDeltaEvent,
  MessagesResponse,
  MessagesStreamEvent,
  Usage,
} from '../contract/messages.js';
import type { PlainDelta } from '../raw/plain-delta.js';
import { cutStopReason, isCutInput, toolInput } from './tool-input.js';
import { errorFromEvent, interruptedError } from './upstream-error.js';
import { addFields } from '../raw/with-fields.js';

/**
 * Folds events into the whole message of one choice. Throws the error of the stream or of its `error` event,
 * and `upstream_interrupted` if it ends too early.
 */
export async function foldMessage(events: ModelEvents, choice = 0): Promise<MessagesResponse> {
  const fold = new MessageFold();
  for await (const batch of events) for (const event of batch) if (event.choice === choice) fold.add(event);
  return fold.message();
}

type Growing = { -readonly [Key in keyof ContentBlock]: ContentBlock[Key] } & Record<string, unknown>;

interface OpenBlock {
  readonly block: Growing;
  json: string | undefined;
  /** Own copy, made at the first citations delta. */
  citations: unknown[] | undefined;
}

/** Fold of the events of one choice into a message. */
export class MessageFold {
  /** Own copy. */
  #message: MessagesResponse | undefined;
  #blocks: OpenBlock[] = [];
  #byIndex = new Map<number, OpenBlock>();
  #stopped = false;

  /** Adds one event; unknown types are skipped, unparsed. Throws the error of an `error` event. */
  add(event: ModelEvent): void {
    if (event.delta) this.#say(event.delta);
    else if (Object.hasOwn(handlers, event.type)) dispatch(handlers, event.json, this);
  }

  #say({ index, text }: PlainDelta): void {
    const open = this.#byIndex.get(index);
    if (open) append(open, 'text', text);
  }

  /** True once `message_stop` has been received. */
  get isStopped(): boolean {
    return this.#stopped;
  }

  /** The message so far; throws `upstream_interrupted` before `message_stop`. */
  message(): MessagesResponse {
    const message = this.#stopped ? this.partial() : undefined;
    if (!message) throw interruptedError();
    const isCut = this.#blocks.some(isCutCall);
    return isCut ? { ...message, stop_reason: cutStopReason(message.stop_reason) } : message;
  }

  /** The message so far, undefined before `message_start`. */
  partial(): MessagesResponse | undefined {
    if (!this.#message) return undefined;
    return { ...this.#message, content: [...this.#message.content, ...this.#blocks.map(closeBlock)] };
  }

  /** @internal */
  start(message: MessagesResponse): void {
    this.#message ??= { ...message };
  }

  /** @internal */
  openBlock(event: ContentBlockStartEvent): void {
    const block = { ...event.content_block } as Growing; // a mutable copy
    const open: OpenBlock = { block, json: undefined, citations: undefined };
    this.#blocks.push(open);
    this.#byIndex.set(event.index, open);
  }

  /** @internal */
  extendBlock(event: ContentBlockDeltaEvent): void {
    const open = this.#byIndex.get(event.index);
    if (open) dispatch(deltas, event.delta, open);
  }

  /** @internal */
  finish(event: MessageDeltaEvent): void {
    if (!this.#message) return;
    const { type: _, delta, usage, ...rest } = event;
    addFields(this.#message, { ...rest, ...delta, usage: mergeUsage(this.#message.usage, usage) });
  }

  /** @internal */
  stop(): void {
    this.#stopped = true;
  }
}

const handlers: Partial<DispatchTable<MessagesStreamEvent, MessageFold, void>> = {
  message_start: (event, fold) => fold.start(event.message),
  content_block_start: (event, fold) => fold.openBlock(event),
  content_block_delta: (event, fold) => fold.extendBlock(event),
  message_delta: (event, fold) => fold.finish(event),
  message_stop: (_, fold) => fold.stop(),
  error: (event) => {
    throw errorFromEvent(event);
  },
};

const deltas: Partial<DispatchTable<Delta, OpenBlock, void>> = {
  text_delta: ({ text }, open) => append(open, 'text', text),
  thinking_delta: ({ thinking }, open) => append(open, 'thinking', thinking),
  signature_delta: ({ signature }, open) => append(open, 'signature', signature),
  input_json_delta: ({ partial_json }, open) => {
    open.json = (open.json ?? '') + partial_json;
  },
  citations_delta: ({ citation }, open) => {
    const { block } = open;
    const before: unknown = block['citations'];
    block['citations'] = open.citations ??= Array.isArray(before) ? [...before] : [];
    open.citations.push(citation);
  },
  compaction_delta: ({ content }, open) => append(open, 'content', content ?? ''),
};

/** Appends to the initial value of the field; several signatures concatenate. */
function append({ block }: OpenBlock, field: string, text: string): void {
  block[field] = asText(block[field]) + text;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** True for a client's tool call whose input is not complete JSON. */
function isCutCall(open: OpenBlock): boolean {
  return open.block.type === 'tool_use' && isCutInput(inputText(open));
}

/** JSON text of a tool's input; some services begin the block with it. */
function inputText({ block, json = '' }: OpenBlock): string {
  return json === '' ? asText(block['input']) : json;
}

/**
 * Completes a block. A tool's input is the JSON of its deltas, its finished members if that is cut, or the
 * initial input without deltas; null citations are left out, because some clients refuse them.
 */
function closeBlock(open: OpenBlock): ContentBlock {
  const copy = { ...open.block };
  const json = inputText(open);
  if (json !== '') copy['input'] = toolInput(json).input;
  if (copy['citations'] === null) delete copy['citations'];
  return copy as unknown as ContentBlock; // built from a block
}

/**
 * Merges two usage reports: the last value of each field wins; an explicit zero counts, null does not. The
 * number of fields is bounded, because an upstream may send any number of reports.
 */
export function mergeUsage(first: Usage | undefined, last: Usage | undefined): Usage {
  const merged: Record<string, unknown> = {};
  let room = maxUsageFields;
  for (const report of [first, last]) {
    for (const field in report) {
      const isKnown = Object.hasOwn(merged, field);
      if (field === '__proto__' || (isKnown ? report[field] === null : room === 0)) continue;
      if (!isKnown) room -= 1;
      merged[field] = report[field];
    }
  }
  return merged;
}

const maxUsageFields = 40;
