import type { StageRecord } from './recording.js';

/** Own time of a stage. */
export class OwnTime {
  readonly #record: StageRecord;
  #sinceMs: number | undefined;

  constructor(record: StageRecord) {
    this.#record = record;
  }

  start(): void {
    this.#sinceMs ??= performance.now();
  }

  stop(): void {
    if (this.#sinceMs !== undefined) this.#record.ms += performance.now() - this.#sinceMs;
    this.#sinceMs = undefined;
  }
}
