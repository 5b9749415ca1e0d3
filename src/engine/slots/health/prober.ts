import { timeoutSignal, type Clock, type Logger, type Models } from '../../../plugin/index.js';
import type { Live } from '../../../plugin/core.js';
import type { SlotEntry } from '../pool/slot-entry.js';

export interface ProberOptions {
  readonly live: Pick<Live, 'withLock'>;
  readonly log: Logger;
  readonly clock: Clock;
  models(): Models;
  /** Called when a slot is accepted again. */
  onAccepted(): void;
}

/**
 * Probes a rejected slot every five minutes with a token count, the cheapest call that needs a valid
 * credential. One instance probes for all.
 */
export class Prober {
  readonly #options: ProberOptions;
  readonly #timers = new Map<SlotEntry, () => void>();

  constructor(options: ProberOptions) {
    this.#options = options;
  }

  /** Sets the rejected slots to probe; slots not in the list are no longer probed. */
  watch(rejected: readonly SlotEntry[]): void {
    for (const entry of this.#timers.keys()) if (!rejected.includes(entry)) this.#forget(entry);
    for (const entry of rejected) if (!this.#timers.has(entry)) this.#schedule(entry);
  }

  close(): void {
    this.watch([]);
  }

  #schedule(entry: SlotEntry): void {
    this.#timers.set(
      entry,
      this.#options.clock.setTimer(() => void this.#probe(entry), intervalMs),
    );
  }

  #forget(entry: SlotEntry): void {
    this.#timers.get(entry)?.();
    this.#timers.delete(entry);
  }

  /** Probes a slot; ignores the result if the slot is no longer watched. */
  async #probe(entry: SlotEntry): Promise<void> {
    const name = `probe/${entry.id}/${entry.slot.health.digest}`;
    const isAccepted = await this.#options.live.withLock(name, () => this.#probeInTurn(entry));
    if (!this.#timers.has(entry)) return;
    if (!isAccepted) return this.#schedule(entry);
    entry.slot.health.accept();
    entry.noteSuccess(this.#options.clock.now());
    this.#options.log.info({ slot: entry.id }, "The upstream accepts the slot's credential again.");
    this.#options.onAccepted();
  }

  async #probeInTurn(entry: SlotEntry): Promise<boolean> {
    const { health } = entry.slot;
    if (!this.#timers.has(entry) || health.wasProbedWithin(intervalMs)) return false;
    health.noteProbe();
    return this.#isAccepted(entry);
  }

  /** True if the upstream accepts the account, or has no free way to check it: then the next request decides. */
  async #isAccepted(entry: SlotEntry): Promise<boolean> {
    const { slot } = entry;
    try {
      const isAccepted = await slot.isAccepted(this.#smallestCall(entry));
      return isAccepted !== false && entry.slot === slot;
    } catch (error) {
      this.#options.log.debug({ err: error, slot: entry.id }, 'The slot is still rejected.');
      return false;
    }
  }

  #smallestCall(entry: SlotEntry): Parameters<SlotEntry['slot']['isAccepted']>[0] {
    const served = this.#options
      .models()
      .list()
      .find(({ id, upstreamModel }) => entry.serves({ id, upstreamModel, isInCatalog: true }));
    return {
      request: {
        model: served ? entry.upstreamModel(served) : 'unknown',
        messages: [{ role: 'user', content: 'Hello' }],
      },
      headers: { 'anthropic-version': '2023-06-01' },
      search: '',
      signal: timeoutSignal(this.#options.clock, timeoutMs),
      headersTimeoutMs: timeoutMs,
      idleTimeoutMs: timeoutMs,
    };
  }
}

const intervalMs = 300_000;
const timeoutMs = 10_000;
