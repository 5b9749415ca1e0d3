import type { Clock } from '../../../kit/time/clock.js';
import type { ModelEvent } from '../../events/events.js';
import { deltaText } from '../../events/text/delta-text.js';

export interface ChunkOptions {
  readonly clock: Clock;
  /** Characters of text, thinking and tool inputs that make a chunk. */
  readonly chunkChars: number;
  /** Time after which fewer are a chunk. */
  readonly chunkAfterMs: number;
  /** Max bytes of events that wait, and of those that are held by verdicts. */
  readonly maxHeldBytes: number;
}

/** Events that wait for their review, behind those that verdicts hold. */
export class ChunkBuffer {
  readonly #options: ChunkOptions;
  readonly #onDue: () => void;
  #held: readonly ModelEvent[] = [];
  #waiting: ModelEvent[] = [];
  #bytes = 0;
  #chars = 0;
  #hasStop = false;
  #isDue = false;
  #cancelTimer: (() => void) | undefined;

  /** `onDue`: called when the time for a chunk is over. */
  constructor(options: ChunkOptions, onDue: () => void) {
    this.#options = options;
    this.#onDue = onDue;
  }

  /** True once `message_stop` has been added. */
  get hasStop(): boolean {
    return this.#hasStop;
  }

  get isEmpty(): boolean {
    return this.#waiting.length + this.#held.length === 0;
  }

  /** True if no more events should be added until the next chunk is taken. */
  get isFull(): boolean {
    return this.#bytes >= this.#options.maxHeldBytes;
  }

  /** True if the waiting events are a chunk. */
  get isChunk(): boolean {
    if (this.#waiting.length === 0) return false;
    return this.#hasStop || this.#isDue || this.isFull || this.#chars >= this.#options.chunkChars;
  }

  add(event: ModelEvent): void {
    this.#waiting.push(event);
    this.#bytes += event.data.length;
    this.#chars += charsOf(event);
    this.#hasStop ||= event.type === 'message_stop';
  }

  /** Starts the time of the next chunk, if any events wait for one. */
  startTimer(): void {
    if (this.#waiting.length === 0 || this.#cancelTimer) return;
    const { clock, chunkAfterMs } = this.#options;
    this.#cancelTimer = clock.setTimer(() => {
      this.#isDue = true;
      this.#onDue();
    }, chunkAfterMs);
  }

  /** Takes all events. */
  take(): readonly ModelEvent[] {
    const events = [...this.#held, ...this.#waiting];
    this.clear();
    return events;
  }

  hold(events: readonly ModelEvent[]): void {
    this.#held = events;
  }

  clear(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#isDue = false;
    this.#held = [];
    this.#waiting = [];
    this.#bytes = 0;
    this.#chars = 0;
  }
}

/** Characters of an event: those of its text, thinking or input. */
export function charsOf(event: ModelEvent): number {
  if (event.type !== 'content_block_delta') return 0;
  if (event.delta) return event.delta.text.length;
  const { json } = event;
  return json.type === 'content_block_delta' ? deltaText(json.delta).length : 0;
}
