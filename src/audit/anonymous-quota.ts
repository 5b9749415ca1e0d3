/** Quota of entries without an actor, such as failed logins: nobody may fill the log from outside. */
export class AnonymousQuota {
  readonly #now: () => number;
  #minute = -1;
  #count = 0;
  #refused = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Undefined: this entry is too many. Else the number of those that were too many since the last one. */
  take(): number | undefined {
    const minute = Math.floor(this.#now() / 60_000);
    if (minute !== this.#minute) this.#count = 0;
    this.#minute = minute;
    this.#count += 1;
    if (this.#count > maxPerMinute) {
      this.#refused += 1;
      return undefined;
    }
    const refused = this.#refused;
    this.#refused = 0;
    return refused;
  }
}

const maxPerMinute = 60;
