import { maxNameLength } from '../../models/name-parts.js';
import type { SharedMap } from '../../../plugin/core.js';

/** Slot that last answered a session, and the earlier moves. */
export interface Origin {
  readonly slotId: string;
  readonly organization: string;
  /** True once the session was moved to another slot. */
  readonly isMoved: boolean;
  /** Messages of the first request in another organization; 0 without one. */
  readonly foreign: number;
}

/**
 * Origins of the thinking that sessions send back, by session and model; known to all instances. Keeps only those that
 * the session's binding does not contain.
 */
export class SessionOrigins {
  readonly #shared: SharedMap;

  constructor(shared: SharedMap) {
    this.#shared = shared;
  }

  get(session: string, model: string): Origin | undefined {
    const kept = this.#shared.get(keyOf(session, model));
    if (!Array.isArray(kept)) return undefined;
    const [slotId, organization, isMoved, foreign] = kept as unknown as Kept; // as `keep` wrote it
    return { slotId, organization, isMoved, foreign };
  }

  /** Keeps an origin, or renews its lifetime once a part of that is over. */
  keep(session: string, model: string, origin: Origin, ttlMs: number): void {
    if (model.length > maxNameLength) return;
    const key = keyOf(session, model);
    const { slotId, organization, isMoved, foreign } = origin;
    const kept: Kept = [slotId, organization, isMoved, foreign];
    const isKept = JSON.stringify(this.#shared.get(key)) === JSON.stringify(kept);
    const leftMs = isKept ? this.#shared.ttlMs(key) : undefined;
    if (leftMs !== undefined && leftMs > ttlMs * 0.9) return;
    this.#shared.set(key, kept, ttlMs);
  }
}

type Kept = readonly [slotId: string, organization: string, isMoved: boolean, foreign: number];

function keyOf(session: string, model: string): string {
  return `origin/${JSON.stringify([model, session])}`;
}
