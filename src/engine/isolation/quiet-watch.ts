/**
 * Keeps a timer of this process while a child has work, since a dry run takes such a timer for work under way: its clock
 * waits. The child is quiet once it has answered what was sent after all else.
 */
export class QuietWatch {
  readonly #echo: (number: number) => void;
  #isOn = false;
  #sent = 0;
  #busy: NodeJS.Timeout | undefined;
  #isScheduled = false;

  constructor(echo: (number: number) => void) {
    this.#echo = echo;
  }

  begin(): void {
    this.#isOn = true;
  }

  /** Takes note of a message to the child. */
  sent(): void {
    if (!this.#isOn) return;
    this.#busy ??= setTimeout(() => undefined, maxBusyMs);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#sent += 1;
      this.#echo(this.#sent);
    });
  }

  echoed(number: unknown): void {
    if (number === this.#sent && !this.#isScheduled) this.#rest();
  }

  stop(): void {
    this.#isOn = false;
    this.#rest();
  }

  #rest(): void {
    clearTimeout(this.#busy);
    this.#busy = undefined;
  }
}

const maxBusyMs = 60_000;
