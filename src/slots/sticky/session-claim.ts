import type { Claimed, SessionClaims } from './session-claims.js';

/** The effect of a claimed slot on a request of its session: to go there too, to claim another one, or none. */
export type Verdict = 'follow' | 'replace' | 'ignore';

/** The claim that one request has on its session. */
export class SessionClaim {
  readonly #claims: SessionClaims;
  readonly #key: string;
  readonly #judge: (slotId: string) => Verdict;
  /** The slot that this request holds the claim for. */
  #heldId: string | undefined;
  /** Claimed by another instance, as last heard. */
  #elsewhereId: string | undefined;
  #moves = 0;

  constructor(claims: SessionClaims, key: string, judge: (slotId: string) => Verdict) {
    this.#claims = claims;
    this.#key = key;
    this.#judge = judge;
  }

  /** The slot that the session is claimed for, as far as this request knows. */
  get slotId(): string | undefined {
    return this.#claims.peek(this.#key) ?? this.#elsewhereId;
  }

  /** Until the place in this slot has come. */
  pick(slotId: string): () => void {
    return this.#claims.pick(this.#key, slotId);
  }

  /** Claims the session for a slot; false: it is claimed for `slotId`, and the request should go there. */
  take(slotId: string): boolean | Promise<boolean> {
    if (this.#heldId === slotId) return true;
    return this.#settle(slotId, this.#claims.take(this.#key, slotId));
  }

  /** A slot has answered this request: the session is bound. */
  bound(): void {
    this.#end(true);
  }

  release(): void {
    this.#end(false);
  }

  #settle(slotId: string, claimed: Claimed | Promise<Claimed>): boolean | Promise<boolean> {
    return claimed instanceof Promise
      ? claimed.then((each) => this.#decide(slotId, each))
      : this.#decide(slotId, claimed);
  }

  #decide(slotId: string, claimed: Claimed): boolean | Promise<boolean> {
    if (claimed.slotId === slotId) {
      this.#heldId = slotId;
      this.#elsewhereId = undefined;
      return true;
    }
    const verdict = this.#judge(claimed.slotId);
    this.#moves += 1;
    if (verdict === 'ignore' || this.#moves > maxMoves) return true;
    if (verdict === 'replace') return this.#settle(slotId, this.#claims.take(this.#key, slotId, claimed));
    this.#elsewhereId = claimed.slotId;
    return false;
  }

  #end(hasAnswered: boolean): void {
    if (this.#heldId !== undefined) this.#claims.release(this.#key, this.#heldId, hasAnswered);
    this.#heldId = undefined;
    this.#elsewhereId = undefined;
  }
}

/** Others may change the claim all the time. */
const maxMoves = 4;
