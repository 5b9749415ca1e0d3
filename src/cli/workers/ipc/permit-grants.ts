/** Permits of one member in one slot. */
interface Share {
  /** Permits that it may use without asking, including those that it holds. */
  granted: number;
  /** Permits that it holds, as last received. */
  held: number;
}

interface Slot {
  limit: number;
  /** True if members may keep no reserve, because a member found no free permit. */
  isScarce: boolean;
  readonly shares: Map<Member, Share>;
  /** Members that request a permit while reserves are recalled. */
  readonly waiting: Member[];
  /** Members with a recalled reserve that is not returned yet. */
  readonly recalled: Set<Member>;
}

export interface Member {
  /** Answers the `take` calls in order: with at least one permit, or none if all are taken. */
  granted(slot: string, grant: Grant): void;
  /** Recalls the reserve of the slot; the member answers by `returned`. */
  recall(slot: string): void;
  /** Notifies that the other members hold more or fewer permits. */
  changed(slot: string): void;
}

export interface Grant {
  readonly permits: number;
  readonly isScarce: boolean;
}

/**
 * Grants permits to members in batches while many are free, so that most permits are taken without asking;
 * grants never exceed the limit. Before a member is refused all reserves are recalled, and none is kept
 * until many permits are free again.
 */
export class PermitGrants {
  readonly #members = new Set<Member>();
  readonly #slots = new Map<string, Slot>();

  join(member: Member): void {
    this.#members.add(member);
  }

  /** Removes a member; its permits are free at once. */
  leave(member: Member): void {
    this.#members.delete(member);
    for (const [name, slot] of this.#slots) {
      const share = slot.shares.get(member);
      slot.shares.delete(member);
      this.#answered(name, slot, member);
      if (share) this.#changed(name, member);
      this.#forgetIdle(name, slot);
    }
  }

  /**
   * Requests a permit, answered by `granted`. Ignores a member that has left, since its last message may
   * arrive late.
   */
  take(member: Member, name: string, limit: number): void {
    if (!this.#members.has(member)) return;
    const slot = this.#slots.get(name) ?? newSlot(limit);
    this.#slots.set(name, slot);
    slot.limit = limit;
    const free = freeOf(slot);
    if (slot.waiting.length > 0 || (free <= 0 && !slot.isScarce)) {
      slot.waiting.push(member);
      if (slot.waiting.length === 1) this.#recall(name, slot);
      return;
    }
    slot.isScarce &&= free * 2 <= limit;
    this.#grant(member, name, slot, slot.isScarce ? 1 : this.#portion(free));
  }

  /** Updates the permits that a member holds, and takes back `givenBack` of its granted permits. */
  report(member: Member, name: string, held: number, givenBack: number): void {
    const slot = this.#slots.get(name);
    const share = slot?.shares.get(member);
    if (!slot || !share) return;
    const hasChanged = share.held !== held || givenBack > 0;
    share.held = held;
    share.granted -= givenBack;
    if (hasChanged) this.#changed(name, member);
    this.#forgetIdle(name, slot);
  }

  /** Completes a recall for a member, after its `report` of the permits given back. */
  returned(member: Member, name: string): void {
    const slot = this.#slots.get(name);
    if (slot) this.#answered(name, slot, member);
  }

  heldElsewhere(member: Member, name: string): number {
    let sum = 0;
    for (const [holder, { held }] of this.#slots.get(name)?.shares ?? []) if (holder !== member) sum += held;
    return sum;
  }

  /** Slots with granted or requested permits. */
  get slots(): Iterable<string> {
    return this.#slots.keys();
  }

  /** Recalls all reserves, including that of the requesting member: it may have been granted more since. */
  #recall(name: string, slot: Slot): void {
    slot.isScarce = true;
    for (const member of slot.shares.keys()) slot.recalled.add(member);
    for (const member of slot.recalled) member.recall(name);
    this.#serveWaiting(name, slot);
  }

  #answered(name: string, slot: Slot, member: Member): void {
    if (slot.recalled.delete(member)) this.#serveWaiting(name, slot);
  }

  #serveWaiting(name: string, slot: Slot): void {
    if (slot.recalled.size > 0) return;
    for (const member of slot.waiting.splice(0)) this.#grant(member, name, slot, 1);
    this.#forgetIdle(name, slot);
  }

  /** Size of a grant, small enough to leave as many permits for each of the other members. */
  #portion(free: number): number {
    return Math.min(maxBatchSize, Math.max(1, Math.floor(free / (2 * this.#members.size))));
  }

  /** Grants at most the free permits; nothing to a member that has left. */
  #grant(member: Member, name: string, slot: Slot, wanted: number): void {
    if (!this.#members.has(member)) return;
    const permits = Math.max(0, Math.min(wanted, freeOf(slot)));
    const share = slot.shares.get(member) ?? { granted: 0, held: 0 };
    slot.shares.set(member, share);
    share.granted += permits;
    member.granted(name, { permits, isScarce: slot.isScarce });
  }

  #changed(name: string, by: Member): void {
    for (const member of this.#members) if (member !== by) member.changed(name);
  }

  #forgetIdle(name: string, slot: Slot): void {
    for (const [member, { granted }] of slot.shares) if (granted === 0) slot.shares.delete(member);
    if (slot.shares.size === 0 && slot.waiting.length === 0) this.#slots.delete(name);
  }
}

/** Max permits per grant. */
const maxBatchSize = 8;

function newSlot(limit: number): Slot {
  return { limit, isScarce: false, shares: new Map(), waiting: [], recalled: new Set() };
}

function freeOf({ limit, shares }: Slot): number {
  let granted = 0;
  for (const share of shares.values()) granted += share.granted;
  return limit - granted;
}
