import type { CacheLoss } from '../../state/ledger/contract.js';
import type { Caches, CacheStats } from '../../plugin/core.js';
import type { RequestVersion } from '../../engine/trace/request-versions.js';
import { causeOf } from './cause.js';
import { KeyedHash } from './keyed-hash.js';
import { firstDifference, isSamePlace, predecessorOf } from './predecessor.js';
import { cachedTokens, turnOf, type Turn, type TurnCall, bytesOf } from './turn.js';

/** A request that has been answered. */
export interface AnsweredRequest {
  /** Name of its session. */
  readonly session: string;
  /** The request after each stage that changed it; the first one is the caller's. */
  readonly versions: readonly RequestVersion[];
  readonly call: TurnCall;
  /** True if these are the tokens of one whole answer; else they do not show cache reads. */
  readonly isWhole: boolean;
}

/**
 * Explains turns that read less from a provider's prompt cache than an earlier one had written. Keeps hashes of the
 * last prompts of each session, by a key of this process, and no text.
 */
export class CacheLedger {
  readonly #hash = new KeyedHash();
  readonly #sessions: Sessions;

  /** `maxBytes`: bound of all kept data. */
  constructor({ maxBytes = 32_000_000 }: { readonly maxBytes?: number } = {}) {
    this.#sessions = new Sessions(maxBytes);
  }

  get caches(): Caches {
    return { cache_ledger_sessions: () => this.#sessions.fill };
  }

  /** Bytes that the kept turns take, roughly. */
  get bytes(): number {
    return this.#sessions.bytes;
  }

  /** Adds a turn to its session; returns its loss, undefined without one or without a turn to compare with. */
  add({ session, versions, call, isWhole }: AnsweredRequest): CacheLoss | undefined {
    const turn = turnOf(this.#hash, versions, isWhole ? call : { ...call, readTokens: 0, writtenTokens: 0 });
    if (!turn) return undefined;
    const turns = this.#sessions.turnsOf(session);
    const loss = isWhole ? lossOf(turns, turn) : undefined;
    renew(turns, turn, isWhole);
    this.#sessions.add(session, turn);
    return loss;
  }
}

function lossOf(turns: readonly Turn[], next: Turn): CacheLoss | undefined {
  const predecessor = predecessorOf(turns, next);
  if (!predecessor) return undefined;
  const { readTokens, writtenTokens, inputTokens } = next.call;
  const missing = cachedTokens(predecessor.turn) - readTokens;
  const lostTokens = Math.min(missing, writtenTokens + inputTokens); // a shorter prompt costs no more than itself
  return lostTokens > 0 ? { ...causeOf(predecessor, next, turns), lostTokens } : undefined;
}

/** A turn that reads another one's prefix renews its lifetime. */
function renew(turns: readonly Turn[], next: Turn, isWhole: boolean): void {
  for (const turn of turns) {
    const hasRead = !isWhole || next.call.readTokens >= cachedTokens(turn);
    if (hasRead && isSamePlace(turn, next) && firstDifference(turn, next) === undefined)
      turn.usedMs = Math.max(turn.usedMs, next.call.answeredMs);
  }
}

interface Session {
  readonly turns: Turn[];
  bytes: number;
  usedMs: number;
}

/** Last turns of each session, within a number of bytes: the session that was idle longest goes first. */
class Sessions {
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

  /** Evicts the sessions older than any cache, and the oldest of the others while the total is too large. */
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

/** Time after which no provider has a cache left: the longest lifetime, and a margin. */
const keptMs = 70 * 60_000;
