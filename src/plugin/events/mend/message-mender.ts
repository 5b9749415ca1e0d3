import { GatewayError, isGatewayError } from '../../contract/error.js';
import type { ContentBlock, EventOf } from '../../contract/messages.js';
import { BlockMender } from './block-mender.js';
import { ModelEvent } from '../events.js';
import {
  estimatedUsage,
  isCounted,
  isToolUse,
  mendedMessage,
  stopReasonWith,
  wholeUsage,
} from './mended-message.js';

/**
 * Repairs the events of services that only resemble the Messages API; events of a valid stream are passed on unchanged,
 * and their deltas unread. Empty blocks before the first content are held, since the answer may restart until then.
 */
export class MessageMender {
  readonly #requestBytes: number;
  readonly #blocks: BlockMender;
  #prelude: ModelEvent[] | undefined = [];
  #isStarted = false;
  /** True for an answer whose start has no usage: its output is measured. */
  #lacksUsage = false;
  #out: ModelEvent[] = [];

  constructor(requestBytes: number) {
    this.#requestBytes = requestBytes;
    this.#blocks = new BlockMender((event) => this.#emit(event));
  }

  /** True while deltas need no inspection. */
  get passesDeltas(): boolean {
    return this.#prelude === undefined && !this.#lacksUsage && this.#blocks.passesDeltas;
  }

  /** Sets whether the events of a read may have halves of surrogate pairs. */
  set mayHaveHalves(mayHave: boolean) {
    this.#blocks.mayHaveHalves = mayHave;
  }

  /** Adds an event to `out`. Throws for an answer that restarts after content. */
  add(event: ModelEvent, out: ModelEvent[]): void {
    this.#out = out;
    if (event.type === 'message_start') this.#start(event);
    else if (event.type === 'content_block_start') this.#blocks.start(event);
    else if (event.type === 'content_block_delta') this.#blocks.delta(event);
    else if (event.type === 'content_block_stop') this.#blocks.stop(event);
    else this.#pass(event);
  }

  #pass(event: ModelEvent): void {
    if (event.type !== 'ping') this.#blocks.flush();
    if (event.type === 'message_delta') this.#end(event);
    else if (event.type === 'ping') this.#out.push(event);
    else this.#emit(event);
  }

  /** A service that retries inside its stream may send a second start, which is not reported before content. */
  #start(event: ModelEvent): void {
    if (!this.#isStarted) {
      this.#isStarted = true;
      const start = this.#mendedStart(event);
      if (hasContent(start)) this.#prelude = undefined;
      return this.#emit(start);
    }
    if (!this.#prelude) throw startedAnew();
    this.#prelude = [];
    this.#blocks.restart();
  }

  #mendedStart(event: ModelEvent): ModelEvent {
    const json = jsonOf(event);
    const message = json?.type === 'message_start' ? json.message : undefined;
    this.#lacksUsage = !isCounted(message?.usage);
    if (message?.usage && wholeUsage(message.usage) === message.usage && !hasWrongStop(message)) return event;
    const mended = mendedMessage(message ?? rawMessage(event), this.#requestBytes);
    return mended ? ModelEvent.of({ type: 'message_start', message: mended }) : event;
  }

  #end(event: ModelEvent): void {
    const json = jsonOf(event);
    if (json?.type !== 'message_delta') return this.#emit(event);
    const stop = stopReasonWith(json.delta.stop_reason, this.#blocks.hasToolUse);
    const usage = this.#usageOf(json);
    const isValid = stop === json.delta.stop_reason && usage === json.usage;
    if (isValid) return this.#emit(event);
    const delta = stop === undefined ? json.delta : { ...json.delta, stop_reason: stop };
    this.#emit(ModelEvent.of({ ...json, delta, ...(usage && { usage }) }));
  }

  #usageOf({ usage }: EventOf<'message_delta'>): EventOf<'message_delta'>['usage'] {
    if (!this.#lacksUsage) return wholeUsage(usage);
    const estimate = estimatedUsage(this.#requestBytes, this.#blocks.textLength);
    if (!isCounted(usage)) return { ...usage, ...estimate, estimated: true };
    const isPart = usage?.input_tokens === undefined || usage.input_tokens === null;
    return isPart ? { ...estimate, ...wholeUsage(usage), estimated: true } : wholeUsage(usage);
  }

  /** Passes an event on; empty blocks before the first content wait for that. */
  #emit(event: ModelEvent): void {
    const held = this.#prelude;
    if (!held || event.type === 'message_start') this.#out.push(event);
    else if (held.length < maxPrelude && !isContent(event)) held.push(event);
    else {
      this.#prelude = undefined;
      for (const each of held) this.#out.push(each);
      this.#out.push(event);
    }
  }
}

/** Max number of events held before the first content. */
const maxPrelude = 64;

/** True for all but the bounds of empty text blocks. */
function isContent(event: ModelEvent): boolean {
  if (event.type === 'content_block_stop') return false;
  const json = event.type === 'content_block_start' ? jsonOf(event) : undefined;
  return json?.type !== 'content_block_start' || !isEmptyText(json.content_block);
}

/** True for a message that begins with its content, or with its end. */
function hasContent(event: ModelEvent): boolean {
  const json = jsonOf(event);
  if (json?.type !== 'message_start') return false;
  return json.message.content.length > 0 || Boolean(json.message.stop_reason);
}

function isEmptyText(block: ContentBlock): boolean {
  return block.type === 'text' && block.text === '';
}

function hasWrongStop({ stop_reason, content }: EventOf<'message_start'>['message']): boolean {
  return stopReasonWith(stop_reason, content.some(isToolUse)) !== stop_reason;
}

/** Undefined for an invalid event, which its reader refuses. */
function jsonOf(event: ModelEvent): ModelEvent['json'] | undefined {
  try {
    return event.json;
  } catch (error) {
    if (isGatewayError(error)) return undefined;
    throw error;
  }
}

function rawMessage({ data }: ModelEvent): unknown {
  try {
    return (JSON.parse(data) as { readonly message?: unknown } | null)?.message;
  } catch {
    return undefined; // its reader refuses it
  }
}

function startedAnew(): GatewayError {
  const message = 'The upstream restarted its answer in the middle.';
  return new GatewayError('upstream_invalid_response', message, { failure: { kind: 'interrupted' } });
}
