import type { ModelEvent, ModelEventBatch } from '../../events/events.js';
import { EventStream } from '../../events/stream/event-stream.js';
import { StreamController, type Flow, type Pipe, type Sink } from '../../events/stream/stream-controller.js';
import { ChunkBuffer, charsOf, type ChunkOptions } from './chunk-buffer.js';
import { AnswerGrammar } from './grammar.js';
import { refusalEvents } from './refusal.js';
import { CheckedChunk, type ReviewChunk, type ReviewVerdict } from './verdict.js';

/**
 * Reviews a chunk. A rejection is a failure: before the first allowed chunk `started` rejects with it, and the events
 * pass on unreviewed; afterwards they end with it, unless `passesFailures`.
 */
export type Reviewer = (chunk: ReviewChunk, signal: AbortSignal) => Promise<ReviewVerdict>;

export interface ReviewOptions extends ChunkOptions {
  /** True: events pass on unreviewed after a failure. */
  readonly passesFailures: boolean;
  /** Called for a failure that the events continue without. */
  readonly onPassed?: (error: unknown) => void;
}

export interface ReviewedEvents {
  readonly events: EventStream;
  /** Resolves with the first allowed chunk, or the end; rejects with a failure before it. */
  readonly started: Promise<void>;
}

/** The events of an answer, of which each chunk passes on after its review; the source waits when too many wait. */
export function reviewed(events: EventStream, review: Reviewer, options: ReviewOptions): ReviewedEvents {
  const flow = new Review(events, review, options);
  return { events: new EventStream(flow.controller), started: flow.started };
}

/** @internal */
export class Review implements Sink<ModelEventBatch>, Flow {
  readonly controller = new StreamController<ModelEventBatch>(this);
  readonly started: Promise<void>;
  readonly #source: Flow;
  readonly #review: Reviewer;
  readonly #options: ReviewOptions;
  readonly #buffer: ChunkBuffer;
  readonly #ending = new AbortController();
  #settle!: { resolve(): void; reject(error: unknown): void }; // by the promise, at once
  #grammar = new AnswerGrammar();
  #sentChars = 0;
  /** `open`: events pass on unreviewed. */
  #phase: 'idle' | 'reviewing' | 'open' | 'over' = 'idle';
  #hasPassed = false;
  #hasRoom = true;
  #isSourcePaused = false;
  #ended: { readonly error: unknown } | undefined;

  constructor(events: Pipe<ModelEventBatch>, review: Reviewer, options: ReviewOptions) {
    this.started = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.started.catch(() => undefined); // it may fail before anybody waits for it
    this.#review = review;
    this.#options = options;
    this.#buffer = new ChunkBuffer(options, () => this.#advance());
    this.#source = events.pipe(this);
    this.#source.resume();
  }

  write(batch: ModelEventBatch): boolean {
    if (this.#phase === 'over') return false;
    if (this.#phase === 'open') return (this.#hasRoom = this.controller.write(batch));
    try {
      for (const event of batch) this.#take(event);
    } catch (error) {
      this.#source.cancel(error);
      this.#fail(error);
      return false;
    }
    this.#advance();
    return this.#readsOn();
  }

  end(error?: unknown): void {
    if (this.#phase === 'over') return;
    this.#ended = { error };
    if (this.#phase === 'open') this.#finish();
    else this.#advance();
  }

  resume(): void {
    this.#hasRoom = true;
    this.#advance();
    this.#resumeSource();
  }

  cancel(reason?: unknown): void {
    if (this.#phase === 'over') return;
    this.#close(reason);
    this.#settle.resolve();
    this.#source.cancel(reason);
  }

  /** Adds an event to the next chunk; pings are for the connection alone. */
  #take(event: ModelEvent): void {
    if (event.type !== 'ping') this.#buffer.add(event);
    else if (this.#hasPassed) this.#hasRoom = this.controller.write([event]);
  }

  /** Reviews what waits, if it is a chunk. */
  #advance(): void {
    if (this.#phase !== 'idle' || !this.#hasRoom) return;
    if (this.#buffer.isChunk || (this.#ended && !this.#buffer.isEmpty)) void this.#next();
    else if (this.#ended) this.#finish();
    else this.#buffer.startTimer();
  }

  async #next(): Promise<void> {
    this.#phase = 'reviewing';
    const isLast = this.#buffer.hasStop || this.#ended !== undefined;
    const events = this.#buffer.take();
    const { maxHeldBytes } = this.#options;
    const chunk = new CheckedChunk({ events, isLast }, { grammar: this.#grammar, maxHeldBytes });
    try {
      const verdict = await this.#review(chunk, this.#ending.signal);
      if (!this.#isOver()) this.#apply(verdict, chunk);
    } catch (error) {
      if (!this.#isOver()) this.#failed(error, events);
    }
    if (this.#phase === 'reviewing') this.#phase = 'idle';
    this.#advance();
    this.#resumeSource();
  }

  /** It may be cancelled at any time. */
  #isOver(): boolean {
    return this.#phase === 'over';
  }

  #apply(verdict: ReviewVerdict, chunk: CheckedChunk): void {
    if (verdict.kind === 'refuse') return this.#refuse(verdict.message, chunk.events);
    this.#grammar = chunk.after(verdict);
    if (verdict.kind === 'hold') this.#buffer.hold(chunk.events);
    else this.#pass(verdict.kind === 'change' ? verdict.events : chunk.events);
  }

  #refuse(message: string, chunk: readonly ModelEvent[]): void {
    this.#pass(refusalEvents(message, { grammar: this.#grammar, chunk, sentChars: this.#sentChars }));
    this.#close();
    this.#source.cancel();
    this.controller.end();
  }

  #pass(events: readonly ModelEvent[]): void {
    if (events.length === 0) return;
    for (const event of events) this.#sentChars += charsOf(event);
    this.#hasPassed = true;
    this.#hasRoom = this.controller.write(events);
    this.#settle.resolve();
  }

  /** Failure of a review. Of an answer that has broken off, the break is the failure to report. */
  #failed(error: unknown, chunk: readonly ModelEvent[]): void {
    const broken = this.#ended?.error;
    if (broken !== undefined) return this.#fail(broken);
    if (this.#hasPassed && !this.#options.passesFailures) {
      this.#source.cancel(error);
      return this.#fail(error);
    }
    if (this.#hasPassed) this.#options.onPassed?.(error);
    this.#phase = 'open';
    const rest = [...chunk, ...this.#buffer.take()];
    this.#settle.reject(error);
    if (rest.length > 0) this.#hasRoom = this.controller.write(rest);
    if (this.#ended) this.#finish();
  }

  #fail(error: unknown): void {
    this.#close(error);
    this.#settle.reject(error);
    this.controller.fail(error);
  }

  /** Ends as the source has ended. */
  #finish(): void {
    const error = this.#ended?.error;
    if (error !== undefined) return this.#fail(error);
    this.#close();
    this.#settle.resolve();
    this.controller.end();
  }

  #close(reason?: unknown): void {
    this.#phase = 'over';
    this.#buffer.clear();
    this.#ending.abort(reason);
  }

  /** True if the source may deliver more. */
  #readsOn(): boolean {
    this.#isSourcePaused = this.#buffer.isFull || !this.#hasRoom;
    return !this.#isSourcePaused;
  }

  #resumeSource(): void {
    if (this.#phase === 'over' || this.#ended || !this.#hasRoom) return;
    const isPaused = this.#phase === 'open' || (this.#isSourcePaused && this.#readsOn());
    if (isPaused) this.#source.resume();
  }
}
