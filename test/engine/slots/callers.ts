import type { GatewayError, Host, MessagesRequest, SlotLease, SlotPicker } from '@gw2api/gateway/plugin';
import type { LeaseRequest } from '#src/plugin/contract/slot/slots.js';

/** Those who ask for places in one run: who holds which lease, and how many wait for one. */
export class Callers {
  readonly held = new Map<SlotLease, AbortController>();
  readonly callers = new Set<AbortController>();
  readonly pickers = new Map<
    AbortController,
    { readonly picker: SlotPicker; readonly request: MessagesRequest }
  >();
  waiting = 0;

  come(): AbortController {
    const caller = new AbortController();
    this.callers.add(caller);
    return caller;
  }

  /** Has a caller ask for its first place. */
  ask(
    pool: Pick<Host['slots'], 'picker'>,
    { request, ...terms }: LeaseRequest,
    caller: AbortController,
  ): void {
    const picker = pool.picker(terms);
    this.pickers.set(caller, { picker, request });
    this.expectLease(picker.lease(request), caller);
  }

  /** Takes what comes of a promised lease, whenever that is. */
  expectLease(promised: Promise<SlotLease | undefined>, caller: AbortController): void {
    const settle = (lease?: SlotLease): void => {
      this.waiting -= 1;
      if (lease && !caller.signal.aborted) this.held.set(lease, caller);
    };
    this.waiting += 1;
    promised.then(settle, () => settle());
  }

  pick(seed: number): [SlotLease, AbortController] | undefined {
    return [...this.held][seed % Math.max(1, this.held.size)];
  }

  abort(caller: AbortController | undefined): void {
    caller?.abort(new Error('gone'));
    for (const [lease, holder] of this.held) if (holder === caller) this.held.delete(lease);
  }
}

/** What may become of a lease, and of who holds it. */
export function leaseSteps(failures: readonly GatewayError[]) {
  return {
    answered: (world: Callers, seed: number) => world.pick(seed)?.[0].answered({}),
    release: (world: Callers, seed: number) => {
      const [lease] = world.pick(seed) ?? [];
      lease?.release();
      lease?.release(); // counts once
      if (lease) world.held.delete(lease);
    },
    another: (world: Callers, seed: number) => {
      const [lease, caller] = world.pick(seed) ?? [];
      if (!lease || !caller) return;
      world.held.delete(lease);
      world.expectLease(lease.another(failures[seed % failures.length]!), caller);
    },
    again: (world: Callers, seed: number) => {
      const [lease, caller] = world.pick(seed) ?? [];
      const asking = caller && world.pickers.get(caller);
      if (lease && asking) world.expectLease(asking.picker.lease(asking.request), caller);
    },
    abort: (world: Callers, seed: number) =>
      world.abort([...world.callers][seed % Math.max(1, world.callers.size)]),
  };
}
