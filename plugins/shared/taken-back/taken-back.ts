import {
  withFields,
  type GatewayError,
  type Host,
  type Slot,
  type SlotCall,
  type SlotLease,
} from '@gw2api/gateway/plugin';
import { nameOf, RefusalMemory, withEntry } from './refusal-memory.js';

/** Parts of requests that upstreams have refused, counted and remembered by slot and upstream model. */
export class RefusedParts {
  readonly #memory: RefusalMemory;
  readonly #count: CountPart;

  /** `rememberMs`: how long a part is left out of later calls. */
  constructor({ metrics, now }: Pick<Host, 'metrics' | 'now'>, rememberMs: number) {
    this.#memory = new RefusalMemory(rememberMs, now);
    const counter = metrics.counter(
      'gw2api_taken_back_total',
      'Upstream calls made again without a part of the request that the gateway had added or translated.',
      ['part', 'slot'],
    );
    this.#count = (labels) => counter.add(labels);
  }

  /** Calls of one answer. */
  forAnswer(): TakenBack {
    return new TakenBack(this.#memory, this.#count);
  }
}

type CountPart = (labels: { readonly part: string; readonly slot: string }) => void;

const none: readonly never[] = [];

/** Max calls that are made again for one answer, over all slots. */
const maxAgain = 2;

/** Calls of one answer that are made again without what their upstream has refused. */
export class TakenBack {
  readonly #memory: RefusalMemory;
  readonly #count: CountPart;
  #left = maxAgain;
  /** Entries of the current lease that hold for its model if the call without them answers. */
  #unproven: readonly string[] = none;
  /** True once the current lease has refused what its session would send again. */
  #isOfSession = false;

  constructor(memory: RefusalMemory, count: CountPart) {
    this.#memory = memory;
    this.#count = count;
  }

  /** Call on a new lease: without what its slot is known to refuse of this model. */
  begin({ id }: Slot, call: SlotCall): SlotCall {
    this.#unproven = none;
    this.#isOfSession = false;
    const without = this.#memory.of(id, call.request.model);
    return without === call.without ? call : withFields(call, { without });
  }

  /** Call without what the slot has refused, to be made on the same lease; undefined: the error is the answer. */
  again(slot: Slot, call: SlotCall, error: GatewayError): SlotCall | undefined {
    if (this.#left === 0 || !isRefusal(error)) return undefined;
    const part = slot.refused?.(error, call);
    if (!part || call.without?.has(part.without)) return undefined;
    if (part.isAsked && call.unsupported === 'reject') return undefined;
    this.#left -= 1;
    this.#count({ part: nameOf(part.without), slot: slot.id });
    if (part.isOfModel) this.#unproven = [...this.#unproven, part.without];
    this.#isOfSession ||= part.isOfSession === true;
    return withFields(call, { without: withEntry(call.without, part.without) });
  }

  /** Remembers what the answered call was without: a refusal alone may quote its caller. */
  answered(lease: Pick<SlotLease, 'slot' | 'disown'>, { request }: SlotCall): void {
    for (const entry of this.#unproven) this.#memory.keep(lease.slot.id, request.model, entry);
    this.#unproven = none;
    if (this.#isOfSession) lease.disown?.();
  }
}

/** True for the statuses of a request that is wrong, also of an error event in place of content. */
function isRefusal({ failure }: GatewayError): boolean {
  return failure?.kind === 'status' && (failure.status === 400 || failure.status === 422);
}
