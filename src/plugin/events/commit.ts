import { dispatch, type DispatchTable } from '../../kit/dispatch.js';
import { GatewayError, isGatewayError } from '../contract/error.js';
import type { ModelEvent, ModelEventBatch, ModelEvents } from './events.js';
import { EventStream } from './stream/event-stream.js';
import { errorWithout, eventWithout, type HideSecrets } from './text/hide-secrets.js';
import { HeldTransform } from './held-transform.js';
import { KeptBatches } from './kept-batches.js';
import type { ContentBlock, MessagesStreamEvent } from '../contract/messages.js';
import type { Transform, TransformFactory } from './stream/stream-step.js';
import { errorFromEvent, interruptedError } from './upstream-error.js';

export interface CommitOptions {
  /** `stream`: the commit point is the first content; `whole`: it is `message_stop`. */
  readonly delivery: 'stream' | 'whole';
  /** Makes transforms of the events before the commit point, in this order. */
  readonly through?: TransformFactory | readonly TransformFactory[] | undefined;
  /** Replaces the secrets of the slot in an `error` event. */
  readonly hide?: HideSecrets | undefined;
  /** Observer of every event, called once as it is read. */
  readonly see?: (event: ModelEvent) => void;
  /** Called once, with the first content, which may be before the commit point. */
  readonly onContent?: () => void;
  /** Called once, at the commit point. */
  readonly onCommit?: () => void;
  /** Called once the committed events have ended, failed or been cancelled. */
  readonly onEnd?: () => void;
}

/**
 * Reads an upstream's events up to the commit point and returns all of them, without the pings before it. Throws
 * failures before it, while another slot can still help: an error of the events, an `error` event, an end
 * without `message_stop`, an empty turn without a stop reason, and too much to keep; later ones go to the reader, after
 * any `error` event.
 */
export async function committed(events: ModelEvents, options: CommitOptions): Promise<EventStream> {
  const stream = heldToCommit(EventStream.from(events), options);
  await stream.opened();
  return stream;
}

/** With transforms, the upstream's events are watched before them, and the commit point is that of their output. */
function heldToCommit(events: EventStream, options: CommitOptions): EventStream {
  const { through, onCommit: _c, onEnd: _e, ...watching } = options;
  if (!through) return events.through(new Commit(options));
  const { see: _s, onContent: _o, ...committing } = options;
  const last = new Commit(committing);
  const isCommitted = (): boolean => last.isCommitted;
  let stream = events.through(new Commit({ ...watching, delivery: 'stream' }));
  for (const make of [through].flat())
    stream = stream.through(new HeldTransform(make(), isCommitted), { cancelsRest: true });
  return stream.through(last);
}

/** Holds the events up to the commit point, then passes them on as they arrive. */
class Commit implements Transform {
  readonly #options: CommitOptions;
  readonly #detector: CommitDetector;
  #kept: KeptBatches | undefined;
  /** Events before the one that failed. */
  #last: ModelEventBatch | undefined;

  constructor(options: CommitOptions) {
    this.#options = options;
    this.#detector = new CommitDetector(options);
    this.#kept = new KeptBatches(options.delivery);
  }

  get isCommitted(): boolean {
    return this.#kept === undefined;
  }

  transform(batch: ModelEventBatch): ModelEventBatch | undefined {
    const seen = this.#detector.see(batch);
    const passed = this.#kept ? this.#keep(this.#kept, seen) : seen;
    if (!this.#detector.hasFailed) return passed;
    if (passed && passed.length > 0) this.#last = passed;
    throw this.#detector.failure;
  }

  flush(): undefined {
    if (!this.#detector.isStopped) throw interruptedError();
    this.#end();
  }

  fail(): ModelEventBatch | undefined {
    this.#end();
    return this.#last;
  }

  cancel(): void {
    this.#end();
  }

  /** Returns all events at the commit point, and none before it. */
  #keep(kept: KeptBatches, batch: ModelEventBatch): ModelEventBatch | undefined {
    if (!this.#detector.isCommitted) {
      if (!this.#detector.hasFailed) kept.add(batch);
      return undefined;
    }
    this.#kept = undefined;
    this.#options.onCommit?.();
    return kept.with(batch);
  }

  #end(): void {
    if (!this.#kept) this.#options.onEnd?.();
  }
}

/**
 * Commit detector: state of one answer. After the commit point only events that can still change it are
 * parsed.
 */
class CommitDetector {
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
          this.#inspect(event);
          kept?.push(event);
        }
        seen += 1;
      }
      return kept ?? batch;
    } catch (error) {
      this.hasFailed = true;
      const good = kept ?? batch.slice(0, seen);
      return this.#fail(good, batch[seen], error);
    }
  }

  /** Records the failure; returns the events before it, and its `error` event, if any. */
  #fail(good: ModelEventBatch, last: ModelEvent | undefined, error: unknown): ModelEventBatch {
    const { hide } = this.#options;
    this.failure = hide && isGatewayError(error) ? errorWithout(error, hide) : error;
    if (last?.type !== 'error') return good;
    return [...good, hide ? eventWithout(last, hide) : last];
  }

  /** @internal Records output; a delta without a text counts too. */
  onOutput(text: string | undefined): void {
    if (text === '') return;
    this.isVisible = true;
    this.onContent();
  }

  /** @internal Records a stop reason, which is content to send. */
  onStopReason(): void {
    this.hasStopReason = true;
    this.onContent();
  }

  /** @internal Records the first content to send to the caller. */
  onContent(): void {
    if (this.#hasContent) return;
    this.#hasContent = true;
    this.#options.onContent?.();
  }

  /**
   * Inspects one event. Every event before the commit point is parsed, since a failover can still repair invalid JSON.
   */
  #inspect(event: ModelEvent): void {
    if (event.type === 'content_block_delta') {
      if (!(this.inText && !this.isVisible) && this.isCommitted) return;
      if (event.delta) return this.onOutput(event.delta.text);
    }
    if (Object.hasOwn(handlers, event.type)) dispatch(handlers, event.json, this);
  }
}

const handlers: Partial<DispatchTable<MessagesStreamEvent, CommitDetector, void>> = {
  message_start: ({ message: { content, stop_reason } }, detector) => {
    for (const block of content) openBlock(block, detector);
    if (stop_reason) detector.onStopReason();
  },
  content_block_start: ({ content_block }, detector) => openBlock(content_block, detector),
  content_block_delta: ({ delta }, detector) => {
    if (delta.type === 'thinking_delta' || delta.type === 'signature_delta') detector.onContent();
    else detector.onOutput(delta.type === 'text_delta' ? delta.text : undefined);
  },
  message_delta: ({ delta }, detector) => {
    if (delta.stop_reason) detector.onStopReason();
  },
  message_stop: (_, detector) => {
    if (!detector.isVisible && !detector.hasStopReason) throw incomplete();
    detector.isStopped = true;
  },
  error: (event) => {
    throw errorFromEvent(event);
  },
};

function openBlock(block: ContentBlock, detector: CommitDetector): void {
  const isText = block.type === 'text';
  detector.inText = isText && block.text === '';
  if (detector.inText) return;
  detector.onContent();
  detector.isVisible ||= block.type !== 'thinking' && block.type !== 'redacted_thinking';
}

function incomplete(): GatewayError {
  return new GatewayError(
    'incomplete_response',
    'The upstream ended its turn with no visible output and no stop reason.',
    { failure: { kind: 'empty' } },
  );
}
