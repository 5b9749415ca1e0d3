/** What one member holds of one slot. */
interface Share {
  /** Places that it may take without asking; those that it holds are among them. */
  granted: number;
  /** Places that it holds, as last heard. */
  held: number;
}

interface Slot {
  limit: number;
  /** Members have been told to keep no reserve, because one of them had to be refused. */
  isScarce: boolean;
  readonly shares: Map<Member, Share>;
  /** Who asks for a place while the reserves of the others are called back. */
  readonly waiting: Member[];
  /** Of whom the reserve has been called back and has not come yet. */
  readonly recalled: Set<Member>;
}

export interface Member {
  /** The answer to one `take`, in their order: at least one place, or none where all have been taken. */
  granted(slot: string, grant: Grant): void;
  /** It shall keep no reserve of the slot, and answer by `returned`. */
  recall(slot: string): void;
  /** What the others hold has changed. */
  changed(slot: string): void;
}

export interface Grant {
  readonly places: number;
  readonly isScarce: boolean;
}

/**
 * Grants members places in slots, more than one at a time while there are plenty, so that most places are taken without
 * asking. What is granted never exceeds the limit, so that what is held does not either. Before one is refused, all
 * reserves are called back; from then on nobody keeps one until there are plenty again.
 */
export class PlaceGrants {
  readonly #members = new Set<Member>();
  readonly #slots = new Map<string, Slot>();

  join(member: Member): void {
    this.#members.add(member);
  }

  /** What it was granted is free at once. */
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

  /** Asks for a place; the member hears by `granted`. Of one that has left it may be the last word, read too late. */
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

  /** What a member holds now, and how many of the places granted to it it gives back. */
  report(member: Member, name: string, held: number, givenBack: number): void {
    const slot = this.#slots.get(name);
    const share = slot?.shares.get(member);
    if (!slot || !share) return;
    const isNews = share.held !== held || givenBack > 0;
    share.held = held;
    share.granted -= givenBack;
    if (isNews) this.#changed(name, member);
    this.#forgetIdle(name, slot);
  }

  /** The answer to `recall`, after a `report` of what is given back. */
  returned(member: Member, name: string): void {
    const slot = this.#slots.get(name);
    if (slot) this.#answered(name, slot, member);
  }

  heldElsewhere(member: Member, name: string): number {
    let sum = 0;
    for (const [holder, { held }] of this.#slots.get(name)?.shares ?? []) if (holder !== member) sum += held;
    return sum;
  }

  /** Every slot of which somebody holds places. */
  get slots(): Iterable<string> {
    return this.#slots.keys();
  }

  /** Also from the one that asks: it may have been granted more since then. */
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

  /** A share of what is free that leaves as much for each of the others. */
  #portion(free: number): number {
    return Math.min(mostAtOnce, Math.max(1, Math.floor(free / (2 * this.#members.size))));
  }

  /** Grants no more than there are; to one that has left nothing. */
  #grant(member: Member, name: string, slot: Slot, wanted: number): void {
    if (!this.#members.has(member)) return;
    const places = Math.max(0, Math.min(wanted, freeOf(slot)));
    const share = slot.shares.get(member) ?? { granted: 0, held: 0 };
    slot.shares.set(member, share);
    share.granted += places;
    member.granted(name, { places, isScarce: slot.isScarce });
  }

  #changed(name: string, by: Member): void {
    for (const member of this.#members) if (member !== by) member.changed(name);
  }

  #forgetIdle(name: string, slot: Slot): void {
    for (const [member, { granted }] of slot.shares) if (granted === 0) slot.shares.delete(member);
    if (slot.shares.size === 0 && slot.waiting.length === 0) this.#slots.delete(name);
  }
}

/** The most places that are granted at once. */
const mostAtOnce = 8;

function newSlot(limit: number): Slot {
  return { limit, isScarce: false, shares: new Map(), waiting: [], recalled: new Set() };
}

function freeOf({ limit, shares }: Slot): number {
  let granted = 0;
  for (const share of shares.values()) granted += share.granted;
  return limit - granted;
}
