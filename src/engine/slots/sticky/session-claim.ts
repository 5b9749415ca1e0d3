import type { Claimed, SessionClaims } from './session-claims.js';

/** Effect of a claimed slot on a request of its session: use that slot, replace the claim, or ignore it. */
export type ClaimDecision = 'follow' | 'replace' | 'ignore';

/** Claim of one request on its session. */
export class SessionClaim {
  readonly #claims: SessionClaims;
  readonly #key: string;
  readonly #decisionOn: (slotId: string) => ClaimDecision;
  /** Slot of the claim that this request holds. */
  #heldId: string | undefined;
  /** Slot claimed by another instance, as last received. */
  #elsewhereId: string | undefined;
  #moves = 0;

  constructor(claims: SessionClaims, key: string, decisionOn: (slotId: string) => ClaimDecision) {
    this.#claims = claims;
    this.#key = key;
    this.#decisionOn = decisionOn;
  }

  /** Slot that the session is claimed for, as far as this request knows. */
  get slotId(): string | undefined {
    return this.#claims.peek(this.#key) ?? this.#elsewhereId;
  }

  /**
   * Marks a slot as picked until its permit is acquired or refused; returns a function that ends the mark.
   */
  pick(slotId: string): () => void {
    return this.#claims.pick(this.#key, slotId);
  }

  /** Claims the session for a slot; false if it is claimed for another one, which the request should use. */
  take(slotId: string): boolean | Promise<boolean> {
    if (this.#heldId === slotId) return true;
    return this.#settle(slotId, this.#claims.take(this.#key, slotId));
  }

  /** Ends the claim after a reply: the session is bound now. */
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
    const decision = this.#decisionOn(claimed.slotId);
    this.#moves += 1;
    if (decision === 'ignore' || this.#moves > maxMoves) return true;
    if (decision === 'replace') return this.#settle(slotId, this.#claims.take(this.#key, slotId, claimed));
    this.#elsewhereId = claimed.slotId;
    return false;
  }

  #end(hasAnswered: boolean): void {
    if (this.#heldId !== undefined) this.#claims.release(this.#key, this.#heldId, hasAnswered);
    this.#heldId = undefined;
    this.#elsewhereId = undefined;
  }
}

/** Max changes of the claim to follow, since other requests may change it again and again. */
const maxMoves = 4;
