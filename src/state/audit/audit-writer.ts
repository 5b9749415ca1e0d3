import { isGatewayError, type Clock, type Logger } from '../../plugin/index.js';
import type { CacheStats } from '../../plugin/core.js';
import { LateError, within } from '../../kit/time/within.js';
import { sleep } from '../../kit/time/clock.js';
import type { AuditEntry, AuditLog } from '../store/contract/audit.js';

interface AuditWriterOptions {
  readonly store: Pick<AuditLog, 'append'>;
  readonly log: Logger;
  readonly clock: Clock;
}

/**
 * Writes entries at once. While the store is down, actions continue: their entries are logged whole, wait here, and are
 * written later.
 */
export class AuditWriter {
  readonly #options: AuditWriterOptions;
  #waiting: AuditEntry[] = [];
  readonly #writing = new Set<Promise<void>>();
  #cancelRetry: (() => void) | undefined;
  #draining: Promise<void> | undefined;

  constructor(options: AuditWriterOptions) {
    this.#options = options;
  }

  get fill(): CacheStats {
    return { entries: this.#waiting.length, capacity: maxWaiting };
  }

  /** Resolves when an entry is in the store or in the queue; soon, even if the store does not answer. */
  async write(entry: AuditEntry): Promise<void> {
    if (this.#waiting.length > 0) return this.#keep(entry);
    const writing = this.#append(entry).catch((error: unknown) => {
      if (isOutage(error)) this.#keep(entry, error);
      else this.#lose(entry, error);
    });
    this.#writing.add(writing);
    void writing.finally(() => this.#writing.delete(writing));
    await Promise.race([writing, sleep(this.#options.clock, maxDelayMs)]);
  }

  /** Writes the queued entries, as far as the store accepts them. */
  flush(): Promise<void> {
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined;
    });
    return this.#draining;
  }

  async close(): Promise<void> {
    await Promise.all(this.#writing);
    await this.flush();
    this.#cancelRetry?.();
    const entries = this.#waiting.length;
    if (entries > 0)
      this.#options.log.error({ entries }, 'Entries are missing in the audit log; they are in this log.');
  }

  #append(entry: AuditEntry): Promise<void> {
    const { store, clock } = this.#options;
    const silence = `The store has not answered within ${timeoutMs} ms.`;
    return within(store.append([entry]), timeoutMs, silence, clock.setTimer);
  }

  #keep(entry: AuditEntry, error?: unknown): void {
    const { log } = this.#options;
    const why = error === undefined ? {} : { err: error };
    log.warn({ entry, ...why }, 'The audit log cannot be written; this entry waits until it can.');
    if (this.#waiting.length === maxWaiting) {
      const oldest = this.#waiting.shift();
      log.error({ entry: oldest }, 'An entry is missing in the audit log: too many wait for the store.');
    }
    this.#waiting.push(entry);
    this.#retrySoon();
  }

  /** An entry that the store refuses, which no later attempt would change. */
  #lose(entry: AuditEntry, error: unknown): void {
    this.#options.log.error(
      { entry, err: error },
      'An entry is missing in the audit log: the store refuses it.',
    );
  }

  #retrySoon(): void {
    this.#cancelRetry ??= this.#options.clock.setTimer(() => {
      this.#cancelRetry = undefined;
      void this.flush();
    }, retryMs);
  }

  async #drain(): Promise<void> {
    const count = this.#waiting.length;
    for (let [entry] = this.#waiting; entry !== undefined; [entry] = this.#waiting) {
      try {
        await this.#append(entry);
      } catch (error) {
        if (isOutage(error)) return this.#retrySoon();
        this.#lose(entry, error);
      }
      this.#waiting = this.#waiting.filter((each) => each !== entry);
    }
    if (count > 0) this.#options.log.info({ entries: count }, 'The audit log can be written again.');
  }
}

function isOutage(error: unknown): boolean {
  return error instanceof LateError || (isGatewayError(error) && error.code === 'store_unavailable');
}

const timeoutMs = 1000;
const retryMs = 1000;

/** Max time that an action waits for its entry, since its caller must not wait for an unresponsive store. */
const maxDelayMs = 300;

/** Max waiting entries, of up to 40 kB each. */
const maxWaiting = 1000;
