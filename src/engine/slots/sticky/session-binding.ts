import type { PickTerms } from '../../../plugin/core.js';
import type { PoolContext } from '../selection/pool-context.js';
import type { SlotEntry, WantedModel } from '../pool/slot-entry.js';

/** Binding of a request's session to a slot; none for a request without a session. */
export class SessionBinding {
  readonly #context: PoolContext;
  readonly #sticky: PickTerms['sticky'];
  readonly #model: WantedModel;
  /** Slot of the binding that was dropped. */
  #droppedId: string | undefined;

  constructor(context: PoolContext, sticky: PickTerms['sticky'], model: WantedModel) {
    this.#context = context;
    this.#sticky = sticky;
    this.#model = model;
  }

  /** Id of the slot, usable or not. */
  get slotId(): string | undefined {
    return this.#sticky && this.#context.bindings.peek(this.#sticky.key);
  }

  /** Id of the slot, also of a binding that was dropped for this request. */
  get boundId(): string | undefined {
    return this.slotId ?? this.#droppedId;
  }

  get isDropped(): boolean {
    return this.#droppedId !== undefined;
  }

  /**
   * Loads the binding, and drops one to a slot that cannot be used, so that the session is bound to the next
   * slot that answers.
   */
  load(): Promise<void> | undefined {
    return this.#sticky && this.#load(this.#sticky.key);
  }

  async #load(key: string): Promise<void> {
    const { bindings } = this.#context;
    await bindings.load(key);
    if (bindings.peek(key) !== undefined && !this.#usable()) this.#drop(key);
  }

  /**
   * Binds the session to the slot. A valid binding to another slot stays: only this model or this try was an
   * exception.
   */
  keep(entry: SlotEntry): void {
    if (!this.#sticky) return;
    const { key, ttlMs } = this.#sticky;
    this.#context.bindings.keep(key, (this.#usable() ?? entry).id, ttlMs);
  }

  /** Drops a binding to this slot, so that the session is bound to the next slot that answers. */
  leave(entry: SlotEntry): void {
    if (this.#sticky && this.slotId === entry.id) this.#drop(this.#sticky.key);
  }

  #drop(key: string): void {
    this.#droppedId = this.slotId;
    this.#context.bindings.drop(key);
  }

  #usable(): SlotEntry | undefined {
    const { entries, now } = this.#context;
    const id = this.slotId;
    const bound = entries().find((entry) => entry.id === id);
    return bound?.isSchedulable(this.#model, now()) ? bound : undefined;
  }
}
