import {
  EventStream,
  type GatewayError,
  type ModelEvents,
  type Slot,
  type SlotCall,
  type SlotLease,
  type SlotPicker,
  type TokenCount,
} from '../plugin/index.js';
import type { LeaseRequest, Slots } from '../plugin/core.js';
import type { UpstreamReply } from '../plugin/upstream/index.js';
import { eventsOf, messageEvents } from './events.js';

export interface FakeSlot extends Slot {
  /** Calls received, token counts included, in order. */
  readonly calls: readonly SlotCall[];
}

interface FakeSlotOptions extends Partial<
  Pick<Slot, 'accountKind' | 'reportsWindows' | 'windows' | 'refused'>
> {
  /** Answer to each call; an error thrown here is the call's failure. */
  readonly generate?: (call: SlotCall) => ModelEvents | UpstreamReply | Promise<ModelEvents | UpstreamReply>;
  readonly countTokens?: (call: SlotCall) => TokenCount | Promise<TokenCount>;
}

/** Fake slot with the given answers; by default one short turn, and 10 tokens. */
export function fakeSlot(id: string, options: FakeSlotOptions = {}): FakeSlot {
  const { generate = () => eventsOf(messageEvents()), countTokens = () => tenTokens } = options;
  const calls: SlotCall[] = [];
  return {
    id,
    calls,
    accountKind: options.accountKind ?? 'api-key',
    reportsWindows: options.reportsWindows ?? false,
    windows: options.windows ?? { '5h': null, '7d': null },
    ...(options.refused && { refused: options.refused }),
    async generate(call) {
      calls.push(call);
      const answer = await generate(call);
      return 'events' in answer ? answer : { status: 200, headers: {}, events: EventStream.from(answer) };
    },
    async countTokens(call) {
      calls.push(call);
      return await countTokens(call);
    },
  };
}

const tenTokens: TokenCount = { inputTokens: 10, estimated: false };

/** History of leases: `answered a`, `failed a: upstream_timeout`, `again a`, `released a`. */
export type LeaseHistory = readonly string[];

/**
 * Picker whose leases are of the first slot; each failure moves on to the next one, and after the last there is none.
 * `models`: the requested ones, in order.
 */
export function pickerOf(...slots: readonly Slot[]): {
  picker: SlotPicker;
  history: LeaseHistory;
  models: readonly string[];
} {
  const history: string[] = [];
  const models: string[] = [];
  const picker: SlotPicker = {
    async lease({ model }) {
      if (models.push(model) > 1) history.push(`again ${slots[0]?.id}`);
      return place(slots, history);
    },
  };
  return { picker, history, models };
}

function place(slots: readonly Slot[], history: string[]): SlotLease {
  const [slot, ...others] = slots;
  if (!slot) throw new TypeError('A lease needs at least one slot.');
  let isHeld = true;
  const failed = (error: GatewayError) => {
    isHeld = false;
    history.push(`failed ${slot.id}: ${error.code}`);
  };
  return {
    slot,
    answered: () => void history.push(`answered ${slot.id}`),
    async another(error) {
      failed(error);
      return others.length > 0 ? place(others, history) : undefined;
    },
    failed,
    release() {
      if (isHeld) history.push(`released ${slot.id}`);
      isHeld = false;
    },
  };
}

export interface FakeSlots extends Slots {
  /** Requests for a lease, in order, those of pickers included. */
  readonly requests: readonly LeaseRequest[];
  readonly history: LeaseHistory;
}

/** Fake pool: gives every request a permit in the first slot, without states, queues or bindings. */
export function fakeSlots(...slots: readonly Slot[]): FakeSlots {
  const requests: LeaseRequest[] = [];
  const history: string[] = [];
  const lease = async (request: LeaseRequest) => {
    requests.push(request);
    return place(slots, history);
  };
  return {
    requests,
    history,
    lease,
    picker: (terms) => ({ lease: (request) => lease({ ...terms, request }) }),
    get: (id) => slots.find((slot) => slot.id === id),
    list: () => [],
    account: () => slots.find(({ reportsWindows }) => reportsWindows),
  };
}
