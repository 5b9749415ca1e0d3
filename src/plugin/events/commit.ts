import { openSource, type BatchReader } from './batch-source.js';
import { BatchStep } from './batch-step.js';
import { dispatch, type DispatchTable } from '../dispatch.js';
import { GatewayError } from '../error.js';
import type { ModelEvent, ModelEventBatch, ModelEvents } from './events.js';
import { KeptBatches } from './kept-batches.js';
import type { ContentBlock, MessagesStreamEvent } from '../contract/messages.js';
import { errorFromEvent, interruptedError } from './upstream-error.js';

export interface CommitOptions {
  /** `stream`: the commit point is the first content; `whole`: it is `message_stop`. */
  readonly delivery: 'stream' | 'whole';
  /** Observer of every event, called once as it is read. */
  readonly see?: (event: ModelEvent) => void;
  /** Called once, with the first content, which may be before the commit point. */
  readonly onContent?: () => void;
  /** Called once the events have ended, failed or been cancelled. */
  readonly onEnd?: () => void;
}

/**
 * Reads an upstream's events up to the commit point (design §4) and returns all of them, without the pings
 * before it. Throws failures before it, while another slot can still help: an error of the events, an `error`
 * event, an end without `message_stop`, a turn with nothing visible and no stop reason (contract §7), and too
 * much to keep; failures after it are thrown to the reader of the events, an `error` event being passed on
 * first, so that its text is kept.
 */
export async function committed(events: ModelEvents, options: CommitOptions): Promise<ModelEvents> {
  const source = openSource(events);
  const turn = new Turn(options);
  const kept = new KeptBatches(options.delivery);
  try {
    while (!turn.isCommitted) {
      const { done, value } = await source.next();
      if (done) throw interruptedError();
      const batch = turn.see(value);
      if (turn.isCommitted) kept.add(batch);
      else if (turn.hasFailed) throw turn.failure;
      else kept.addWithinBound(batch);
    }
  } catch (error) {
    await source.return();
    throw error;
  }
  return new Followed(kept.batches, source, turn, options.onEnd);
}

/** Committed events: those read before the commit point, then the rest as it arrives. */
class Followed extends BatchStep<ModelEventBatch, ModelEventBatch> {
  #read: readonly ModelEventBatch[];
  #given = 0;
  readonly #turn: Turn;
  readonly #onEnd: CommitOptions['onEnd'];

  constructor(
    read: readonly ModelEventBatch[],
    rest: ModelEvents,
    turn: Turn,
    onEnd: CommitOptions['onEnd'],
  ) {
    super(rest);
    this.#read = read;
    this.#turn = turn;
    this.#onEnd = onEnd;
  }

  override ask(reader: BatchReader<ModelEventBatch>): ModelEventBatch | undefined {
    const batch = this.#read[this.#given];
    if (!batch) return super.ask(reader);
    this.#given += 1;
    return batch;
  }

  protected override take(batch: ModelEventBatch): ModelEventBatch {
    return this.#turn.see(batch);
  }

  protected override check(): void {
    if (this.#turn.hasFailed) throw this.#turn.failure;
  }

  protected override end(): void {
    if (!this.#turn.isStopped) throw interruptedError();
  }

  protected override close(): void {
    this.#read = [];
    this.#onEnd?.();
  }
}

/**
 * Commit detector: state of one answer. After the commit point only events that can still change it are
 * parsed.
 */
class Turn {
  readonly #options: CommitOptions;
  #hasContent = false;
  /** True once there is output other than thinking. */
  isVisible = false;
  hasStopReason = false;
  isStopped = false;
  /** True if the last block began as an empty text, so that its deltas decide. */
  inText = false;
  hasFailed = false;
  failure: unknown;

  constructor(options: CommitOptions) {
    this.#options = options;
  }

  get isCommitted(): boolean {
    return this.isStopped || (this.#options.delivery === 'stream' && this.#hasContent);
  }

  /**
   * Inspects a batch. Returns it without the pings before the commit point, up to the event that fails, and
   * with that event if it is an `error`.
   */
  see(batch: ModelEventBatch): ModelEventBatch {
    let seen = 0;
    let kept: ModelEvent[] | undefined;
    try {
      for (const event of batch) {
        this.#options.see?.(event);
        if (event.type === 'ping' && !this.isCommitted) kept ??= batch.slice(0, seen);
        else {
          this.#look(event);
          kept?.push(event);
        }
        seen += 1;
      }
      return kept ?? batch;
    } catch (error) {
      this.hasFailed = true;
      this.failure = error;
      const good = kept ?? batch.slice(0, seen);
      const last = batch[seen];
      return last?.type === 'error' ? [...good, last] : good;
    }
  }

  /** @internal Records output; a delta without a text counts too. */
  say(text: string | undefined): void {
    if (text === '') return;
    this.isVisible = true;
    this.begin();
  }

  /** @internal Records a stop reason, which is content to send. */
  sayWhy(): void {
    this.hasStopReason = true;
    this.begin();
  }

  /** @internal Records the first content to send to the caller. */
  begin(): void {
    if (this.#hasContent) return;
    this.#hasContent = true;
    this.#options.onContent?.();
  }

  /**
   * Inspects one event. Every event before the commit point is parsed, since a failover can still cure
   * invalid JSON.
   */
  #look(event: ModelEvent): void {
    if (event.type === 'content_block_delta') {
      if (!(this.inText && !this.isVisible) && this.isCommitted) return;
      if (event.delta) return this.say(event.delta.text);
    }
    if (Object.hasOwn(looks, event.type)) dispatch(looks, event.json, this);
  }
}

const looks: Partial<DispatchTable<MessagesStreamEvent, Turn, void>> = {
  message_start: ({ message: { content, stop_reason } }, turn) => {
    for (const block of content) openBlock(block, turn);
    if (stop_reason) turn.sayWhy();
  },
  content_block_start: ({ content_block }, turn) => openBlock(content_block, turn),
  content_block_delta: ({ delta }, turn) => {
    turn.say(delta.type === 'text_delta' ? delta.text : undefined);
  },
  message_delta: ({ delta }, turn) => {
    if (delta.stop_reason) turn.sayWhy();
  },
  message_stop: (_, turn) => {
    if (!turn.isVisible && !turn.hasStopReason) throw incomplete();
    turn.isStopped = true;
  },
  error: (event) => {
    throw errorFromEvent(event);
  },
};

function openBlock(block: ContentBlock, turn: Turn): void {
  const isText = block.type === 'text';
  turn.inText = isText && block.text === '';
  if (turn.inText) return;
  turn.begin();
  turn.isVisible ||= block.type !== 'thinking' && block.type !== 'redacted_thinking';
}

function incomplete(): GatewayError {
  return new GatewayError(
    'incomplete_response',
    'The upstream ended its turn with no visible output and no stop reason.',
    { failure: { kind: 'empty' } },
  );
}
