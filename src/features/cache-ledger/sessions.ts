import { bytesOf, type Turn } from './turn.js';
import type { CacheStats } from '../../plugin/core.js';

interface Session {
  readonly turns: Turn[];
  bytes: number;
  usedMs: number;
}

/** Last turns of each session, within a number of bytes: the session that was idle longest goes first. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get fill(): CacheStats {
    return { entries: this.#sessions.size, capacity: Math.floor(this.#maxBytes / minSessionBytes) };
  }

  /** Bytes that all turns take, roughly. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Turns of a session, oldest first. */
  turnsOf(session: string): readonly Turn[] {
    return this.#sessions.get(session)?.turns ?? [];
  }

  add(name: string, turn: Turn): void {
    const session = this.#sessions.get(name) ?? { turns: [], bytes: 0, usedMs: 0 };
    this.#sessions.delete(name); // to be the last in order of use
    this.#sessions.set(name, session);
    session.turns.push(turn);
    session.usedMs = turn.usedMs;
    this.#count(session, bytesOf(turn));
    while (session.turns.length > maxTurns || session.bytes > maxSessionBytes) this.#dropOldest(session);
    this.#evict(turn.usedMs);
  }

  #dropOldest(session: Session): void {
    const turn = session.turns.shift();
    if (turn) this.#count(session, -bytesOf(turn));
    else session.bytes = 0;
  }

  /** Evicts the sessions that have outlived any cache, and the oldest of the others as long as all take too much. */
  #evict(nowMs: number): void {
    for (const [name, session] of this.#sessions) {
      if (this.#bytes <= this.#maxBytes && session.usedMs > nowMs - keptMs) return;
      this.#sessions.delete(name);
      this.#bytes -= session.bytes;
    }
  }

  #count(session: Session, bytes: number): void {
    session.bytes += bytes;
    this.#bytes += bytes;
  }
}

/** Turns of a session: its conversations, those of its agents included, alternate. */
const maxTurns = 12;
const maxSessionBytes = 2_000_000;
const minSessionBytes = 2000;

/** Time after which no provider has anything left: the longest lifetime, and a margin. */
const keptMs = 70 * 60_000;
