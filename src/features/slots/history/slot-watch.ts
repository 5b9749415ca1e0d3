import { every } from '../../../kit/time/clock.js';
import {
  maxSlotChanges,
  type SlotChange,
  type SlotHistory,
  type WindowSample,
} from '../../../state/store/contract/slot-history.js';
import type { Caches, SlotStatus } from '../../../plugin/core.js';
import type { Clock, Logger } from '../../../plugin/index.js';
import { windowNames, windows } from './forecasts.js';

interface SlotWatchOptions {
  readonly store: SlotHistory;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Writes changes of slots, and samples of their usage windows, into the history. */
export class SlotWatch {
  readonly #options: SlotWatchOptions;
  /** State of each slot as last seen, as text, and the time of that change. */
  readonly #seen = new Map<string, { readonly text: string; readonly atMs: number }>();
  /** Number of the step that each window was last sampled in. */
  readonly #steps = new Map<string, number>();
  #changes: SlotChange[] = [];
  #samples: WindowSample[] = [];
  #slots: (() => readonly SlotStatus[]) | undefined;
  #stop: () => void = () => undefined;
  #cancelLook: (() => void) | undefined;
  #writing: Promise<void> | undefined;
  #hasFailed = false;
  #isClosed = false;

  constructor(options: SlotWatchOptions) {
    this.#options = options;
  }

  /** Begins to watch slots that are open. */
  start(slots: () => readonly SlotStatus[]): void {
    this.#slots = slots;
    this.#stop = every(this.#options.clock, sampleEveryMs, () => this.look());
    this.changed();
  }

  get caches(): Caches {
    return { unwritten_slot_changes: () => ({ entries: this.#changes.length, capacity: maxWaiting }) };
  }

  /** Schedules a check of the slots, after one of them may have changed. */
  readonly changed = (): void => {
    if (this.#isClosed || !this.#slots) return;
    this.#cancelLook ??= this.#options.clock.setTimer(() => this.look(), lookAfterMs);
  };

  /** Checks the slots, and writes their changes. */
  look(): void {
    this.#cancelLook?.();
    this.#cancelLook = undefined;
    if (this.#isClosed || !this.#slots) return;
    const nowMs = this.#options.clock.now();
    const slots = this.#slots();
    for (const slot of slots) {
      this.#noteChange(slot, nowMs);
      this.#noteWindows(slot, nowMs);
    }
    this.#forget(new Set(slots.map(({ id }) => id)));
    void this.#flush();
  }

  /** Changes of a slot up to now, newest first. */
  async changes(slot: string, limit: number): Promise<readonly SlotChange[]> {
    this.look();
    await this.#flush();
    return this.#options.store.changes(slot, limit);
  }

  #flush(): Promise<void> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async close(): Promise<void> {
    this.look();
    this.#isClosed = true;
    this.#stop();
    await this.#flush();
  }

  #noteChange(slot: SlotStatus, nowMs: number): void {
    const change = changeOf(slot, nowMs);
    const { state, reason, models } = change;
    const text = JSON.stringify([state, reason, models]);
    const before = this.#seen.get(slot.id);
    if (before?.text === text) return;
    const atMs = Math.max(change.atMs, (before?.atMs ?? 0) + 1);
    this.#seen.set(slot.id, { text, atMs });
    this.#changes.push({ ...change, atMs });
    if (this.#changes.length > maxWaiting) this.#changes.shift();
  }

  /** Samples each window at the beginning of a step, so that instances add the same samples. */
  #noteWindows(slot: SlotStatus, nowMs: number): void {
    for (const name of windowNames) {
      const window = slot.windows[name];
      const { stepMs } = windows[name];
      const step = Math.floor(nowMs / stepMs);
      const key = `${name}/${slot.id}`;
      const before = this.#steps.get(key);
      this.#steps.set(key, step);
      if (before === undefined || before === step || !window || window.resetsAtMs <= nowMs) continue;
      this.#samples.push({ slot: slot.id, window: name, atMs: step * stepMs, ...window });
      if (this.#samples.length > maxWaiting) this.#samples.shift();
    }
  }

  /** Forgets slots that no longer exist. */
  #forget(ids: ReadonlySet<string>): void {
    for (const id of this.#seen.keys()) {
      if (ids.has(id)) continue;
      this.#seen.delete(id);
      for (const name of windowNames) this.#steps.delete(`${name}/${id}`);
    }
  }

  /**
   * Writes the pending records, including those added during the write; a failed write is retried with the next one.
   */
  async #write(): Promise<void> {
    const { log } = this.#options;
    try {
      while (this.#changes.length + this.#samples.length > 0) await this.#writeOnce();
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) log.warn({ err: error }, 'The history of slots cannot be stored; retrying.');
      this.#hasFailed = true;
    }
  }

  async #writeOnce(): Promise<void> {
    const { store } = this.#options;
    const [changes, samples] = [this.#changes, this.#samples];
    this.#changes = [];
    this.#samples = [];
    try {
      for (let at = 0; at < samples.length; at += batch) await store.sample(samples.slice(at, at + batch));
      await store.append(changes);
    } catch (error) {
      this.#changes = [...changes, ...this.#changes].slice(-maxWaiting);
      this.#samples = [...samples, ...this.#samples].slice(-maxWaiting);
      throw error;
    }
  }
}

/** The state of a slot as a change; a failure that caused it gives its time. */
function changeOf(slot: SlotStatus, nowMs: number): SlotChange {
  const { state, reason, untilMs, models } = slot;
  const cause = slot.cause ?? models[0]?.cause ?? null;
  const isRecent = cause !== null && cause.atMs <= nowMs && cause.atMs > nowMs - 2 * lookAfterMs;
  return {
    slot: slot.id,
    atMs: isRecent ? cause.atMs : nowMs,
    state,
    ...(reason !== null && { reason }),
    ...(untilMs !== null && { untilMs }),
    models: models.map(({ model }) => model).toSorted(),
    ...(cause && { code: cause.code }),
    ...(cause && cause.status !== null && { status: cause.status }),
  };
}

/** Time after a change during which further changes belong to the same check. */
const lookAfterMs = 250;
const sampleEveryMs = 60_000;
/** Max changes, and samples, that wait during an outage of the store. */
const maxWaiting = 20 * maxSlotChanges;
/** Max samples of one statement, since databases limit its parameters. */
const batch = 500;
