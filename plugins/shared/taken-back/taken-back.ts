import {
  withFields,
  type GatewayError,
  type Host,
  type Slot,
  type SlotCall,
  type SlotLease,
} from '@gw2api/gateway/plugin';
import { LRUCache } from 'lru-cache';

/** Parts of requests that upstreams have refused, counted and remembered by slot and upstream model. */
export class RefusedParts {
  readonly #memory: RefusalMemory;
  readonly #count: CountPart;

  /** `rememberMs`: how long a part is left out of later calls. */
  constructor({ metrics, now }: Pick<Host, 'metrics' | 'now'>, rememberMs: number) {
    this.#memory = new RefusalMemory(rememberMs, now);
    const counter = metrics.counter(
      'gw2api_taken_back_total',
      'Upstream calls retried without a part of the request that the gateway had added or translated.',
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

/** Calls of one answer that are repeated without the parts that their upstream has refused. */
export class TakenBack {
  readonly #memory: RefusalMemory;
  readonly #count: CountPart;
  #left = maxAgain;
  /** Entries of the current lease that apply to its model if the call without them succeeds. */
  #unproven: readonly string[] = none;
  /** True once the current lease has refused a part that its session would send again. */
  #isOfSession = false;

  constructor(memory: RefusalMemory, count: CountPart) {
    this.#memory = memory;
    this.#count = count;
  }

  /** Call on a new lease, without the parts that its slot is known to refuse for this model. */
  begin({ id }: Slot, call: SlotCall): SlotCall {
    this.#unproven = none;
    this.#isOfSession = false;
    const without = this.#memory.of(id, call.request.model);
    return without === call.without ? call : withFields(call, { without });
  }

  /**
   * Call without the parts that the slot has refused, to be made on the same lease; undefined: the error is the answer.
   */
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

  /** Remembers the parts that a successful call left out: a refusal alone may quote its caller. */
  answered(lease: Pick<SlotLease, 'slot' | 'disown'>, { request }: SlotCall): void {
    for (const entry of this.#unproven) this.#memory.keep(lease.slot.id, request.model, entry);
    this.#unproven = none;
    if (this.#isOfSession) lease.disown?.();
  }
}

/** True for the statuses of a wrong request, also of an error event instead of content. */
function isRefusal({ failure }: GatewayError): boolean {
  return failure?.kind === 'status' && (failure.status === 400 || failure.status === 422);
}

/** Refused parts by slot and upstream model, kept for a time: the entries of `SlotCall.without`. */
class RefusalMemory {
  readonly #keepMs: number;
  readonly #now: () => number;
  readonly #models = new LRUCache<string, Map<string, Kept>>({ max: maxModels });

  constructor(keepMs: number, now: () => number) {
    this.#keepMs = keepMs;
    this.#now = now;
  }

  /** Entries for a call of this model; undefined: none. */
  of(slot: string, model: string): ReadonlySet<string> | undefined {
    if (this.#models.size === 0) return undefined;
    const kept = this.#models.get(keyOf(slot, model));
    if (!kept) return undefined;
    const nowMs = this.#now();
    const entries = [...kept.values()].filter(({ untilMs }) => nowMs < untilMs);
    return entries.length > 0 ? new Set(entries.map(({ entry }) => entry)) : undefined;
  }

  /** Keeps an entry, in place of the one with its name. */
  keep(slot: string, model: string, entry: string): void {
    if (this.#keepMs === 0 || model.length > maxNameLength) return;
    const key = keyOf(slot, model);
    const kept = this.#models.get(key) ?? new Map<string, Kept>();
    kept.set(nameOf(entry), { entry, untilMs: this.#now() + this.#keepMs });
    this.#models.set(key, kept);
  }
}

interface Kept {
  readonly entry: string;
  /** Unix milliseconds. */
  readonly untilMs: number;
}

/** Max pairs of a slot and a model, more than a config has. */
const maxModels = 1000;

/** Max length of a model name; callers may send longer texts. */
const maxNameLength = 200;

function keyOf(slot: string, model: string): string {
  return `${slot}\n${model}`;
}

/** Name of an entry, without the value that is sent instead: `effort` of `effort=low,high`. */
function nameOf(entry: string): string {
  const end = entry.indexOf('=');
  return end < 0 ? entry : entry.slice(0, end);
}

/** Entries with another one, in place of the one with its name. */
function withEntry(entries: ReadonlySet<string> | undefined, entry: string): ReadonlySet<string> {
  const others = [...(entries ?? [])].filter((other) => nameOf(other) !== nameOf(entry));
  return new Set([...others, entry]);
}
