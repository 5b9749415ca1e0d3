import type { Live } from '../../plugin/index.js';

/** A slot that a session is claimed for, and by which instance, as the instances tell each other. */
export interface Claimed {
  readonly slotId: string;
  readonly text: string;
}

interface Held {
  readonly claimed: Claimed;
  /** Requests of this instance that go by the claim. */
  holders: number;
}

/**
 * Slots for which sessions are claimed before one has answered, so that the first calls of a session, made in parallel,
 * go to one slot. A claim ends when the last request of its instance has failed; after an answer the binding counts.
 */
export class SessionClaims {
  readonly #live: Pick<Live, 'claims' | 'instance'>;
  readonly #held = new Map<string, Held>();
  /** Slots that requests of this instance are asking for a place in. */
  readonly #picked = new Map<string, { readonly slotId: string; requests: number }>();

  constructor(live: Pick<Live, 'claims' | 'instance'>) {
    this.#live = live;
  }

  /** As far as this instance knows. */
  peek(key: string): string | undefined {
    return this.#held.get(key)?.claimed.slotId ?? this.#picked.get(key)?.slotId;
  }

  /** A request asks for a place in a slot, which the others of its session prefer meanwhile; gives the way to end that. */
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

  /** Gives what the session is claimed for then; where that is `slotId`, the claim is held until `release`. */
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

  /** `hasAnswered`: other instances may not know the binding yet, so the claim lasts for the rest of its time. */
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
