import type { Live } from '../../../plugin/core.js';

/** Slot that a session is claimed for; `text` is the shared value, with the claiming instance. */
export interface Claimed {
  readonly slotId: string;
  readonly text: string;
}

interface Held {
  readonly claimed: Claimed;
  /** Requests of this instance that use the claim. */
  holders: number;
}

/**
 * Claims of sessions for slots before the first reply, so that parallel first calls of a session use the
 * same slot. A claim ends when the last request of its instance has failed; after a reply the binding
 * counts.
 */
export class SessionClaims {
  readonly #live: Pick<Live, 'claims' | 'instance'>;
  readonly #held = new Map<string, Held>();
  /** Slots in which requests of this instance wait for a permit. */
  readonly #picked = new Map<string, { readonly slotId: string; requests: number }>();

  constructor(live: Pick<Live, 'claims' | 'instance'>) {
    this.#live = live;
  }

  /** Slot of a session, as far as this instance knows. */
  peek(key: string): string | undefined {
    return this.#held.get(key)?.claimed.slotId ?? this.#picked.get(key)?.slotId;
  }

  /**
   * Marks the slot in which a request asks for a permit, so that others of its session prefer it. Returns a
   * function that ends the mark.
   */
  pick(key: string, slotId: string): () => void {
    const picked = this.#picked.get(key) ?? { slotId, requests: 0 };
    if (picked.slotId !== slotId) return () => undefined;
    picked.requests += 1;
    this.#picked.set(key, picked);
    return () => {
      picked.requests -= 1;
      if (picked.requests === 0) this.#picked.delete(key);
    };
  }

  /**
   * Claims a session and returns the claim in force; if that is for `slotId`, it is held until `release`.
   */
  take(key: string, slotId: string, instead?: Claimed): Claimed | Promise<Claimed> {
    const known = this.#held.get(key)?.claimed;
    if (known && known.text !== instead?.text) return this.#hold(key, slotId, known);
    const { claims, instance } = this.#live;
    const options = { ttlMs: claimedMs, ...(instead && { instead: instead.text }) };
    const text = claims.take(nameOf(key), `${instance} ${slotId}`, options);
    return typeof text === 'string'
      ? this.#hold(key, slotId, parse(text))
      : text.then((each) => this.#hold(key, slotId, parse(each)));
  }

  /**
   * Releases a claim. After a reply (`hasAnswered`) it stays until it expires, since other instances may not
   * know the binding yet.
   */
  release(key: string, slotId: string, hasAnswered: boolean): void {
    const held = this.#held.get(key);
    if (held?.claimed.slotId !== slotId) return;
    held.holders -= 1;
    if (held.holders > 0) return;
    this.#held.delete(key);
    const { claims, instance } = this.#live;
    const isOwn = held.claimed.text.startsWith(`${instance} `);
    if (isOwn && !hasAnswered) claims.release(nameOf(key), held.claimed.text);
  }

  #hold(key: string, slotId: string, claimed: Claimed): Claimed {
    if (claimed.slotId !== slotId) return claimed;
    const held = this.#held.get(key);
    if (held?.claimed.slotId === slotId) held.holders += 1;
    else this.#held.set(key, { claimed, holders: 1 });
    return claimed;
  }
}

function parse(text: string): Claimed {
  return { slotId: text.slice(text.indexOf(' ') + 1), text };
}

function nameOf(key: string): string {
  return `slots/session/${key}`;
}

const claimedMs = 60_000;
