import type { Socket } from 'node:net';
import { streamBytes, type AnswerBytes } from './bytes.js';
import type { Script } from './scripts.js';

interface Timed {
  readonly socket: Socket;
  left: number;
}

/** Plays a script whose deltas have their times to any number of callers, each at a phase of its own or all at one. */
export class Ticker {
  readonly #script: Script;
  readonly #bytes: AnswerBytes;
  /** One for each millisecond of the period. */
  readonly #phases: Set<Timed>[];
  /** The millisecond that is due next. */
  #nextMs = 0;

  constructor(script: Script, bytes = streamBytes) {
    this.#script = script;
    this.#bytes = bytes(script);
    this.#phases = Array.from({ length: script.everyMs ?? 1 }, () => new Set());
  }

  start(): void {
    this.#nextMs = this.#nowMs();
    setInterval(() => this.#catchUp(), 1).unref();
  }

  play(socket: Socket): void {
    const timed = { socket, left: this.#script.deltas };
    const phase = this.#phases[this.#script.isInStep ? 0 : this.#nowMs() % this.#phases.length];
    socket.write(this.#bytes.start, 'latin1');
    phase?.add(timed);
  }

  #catchUp(): void {
    for (const nowMs = this.#nowMs(); this.#nextMs <= nowMs; this.#nextMs += 1) {
      const phase = this.#phases[this.#nextMs % this.#phases.length];
      for (const timed of phase ?? []) if (this.#tick(timed)) phase?.delete(timed);
    }
  }

  /** True once it was the last, or the caller has left. */
  #tick(timed: Timed): boolean {
    if (timed.socket.destroyed) return true;
    const { delta, end } = this.#bytes;
    timed.left -= 1;
    const isLast = timed.left === 0;
    timed.socket.write(delta(this.#script.delta(0)) + (isLast ? end : ''), 'latin1');
    return isLast;
  }

  #nowMs(): number {
    return Math.floor(performance.now());
  }
}
