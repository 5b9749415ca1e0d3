import type { CacheLoss } from '../../state/ledger/contract.js';
import type { Caches } from '../../plugin/core.js';
import type { RequestVersion } from '../../engine/trace/request-versions.js';
import { causeOf } from './cause.js';
import { KeyedHash } from './keyed-hash.js';
import { firstDifference, isSamePlace, predecessorOf } from './predecessor.js';
import { Sessions } from './sessions.js';
import { cachedTokens, turnOf, type Turn, type TurnCall } from './turn.js';

/** A request that has been answered. */
export interface AnsweredRequest {
  /** Name of its session. */
  readonly session: string;
  /** The request as each stage has left it that changed it; the first one is the caller's. */
  readonly versions: readonly RequestVersion[];
  readonly call: TurnCall;
  /** True if these are the tokens of one whole answer: else they say nothing about what was read. */
  readonly isWhole: boolean;
}

/**
 * Explains turns that read less from a provider's prompt cache than an earlier one had left there. Keeps
 * hashes of the last prompts of each session, by a key of this process, and no text.
 */
export class CacheLedger {
  readonly #hash = new KeyedHash();
  readonly #sessions: Sessions;

  /** `maxBytes`: bound of all that it keeps. */
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

  /** Adds a turn to its session; returns what it has lost, undefined if nothing or if there is none to compare with. */
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

/** A turn that has read another one's prefix has renewed its lifetime. */
function renew(turns: readonly Turn[], next: Turn, isWhole: boolean): void {
  for (const turn of turns) {
    const hasRead = !isWhole || next.call.readTokens >= cachedTokens(turn);
    if (hasRead && isSamePlace(turn, next) && firstDifference(turn, next) === undefined)
      turn.usedMs = Math.max(turn.usedMs, next.call.answeredMs);
  }
}
