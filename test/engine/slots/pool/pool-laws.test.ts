import { expect } from 'chai';
import * as fc from 'fast-check';
import type { LeaseRequest } from '#src/plugin/contract/slot/slots.js';
import type { SlotConfig } from '#src/config/config.js';
import { builtinPolicies } from '#src/engine/slots/selection/policies.js';
import { Callers, leaseSteps } from '../callers.js';
import {
  failure,
  leaseRequest,
  openPool,
  refusal,
  settled,
  slotConfig,
  unreachable,
  type Kit,
} from '../kit.js';

/** Everything that is under way in one run, and what must be true of it after every step. */
class World extends Callers {
  readonly kit: Kit;
  readonly #policies = Object.values(builtinPolicies).map((make) => make());

  constructor(kit: Kit) {
    super();
    this.kit = kit;
  }

  lease(seed: number): void {
    const caller = this.come();
    const request: LeaseRequest = leaseRequest({
      model: seed % 3 === 0 ? 'haiku-5' : 'sonnet-5',
      policy: this.#policies[seed % this.#policies.length]!,
      queueTimeoutMs: 1000 * (1 + (seed % 40)),
      signal: caller.signal,
      ...(seed % 2 === 0 ? { sticky: { key: `session-${seed % 5}`, ttlMs: 60_000 } } : {}),
    });
    this.ask(this.kit.pool, request, caller);
  }

  check(limits: ReadonlyMap<string, number>): void {
    for (const { id, inFlight, queued } of this.kit.pool.list()) {
      const held = [...this.held.keys()].filter(({ slot }) => slot.id === id).length;
      expect(inFlight, `in-flight of ${id}`).to.equal(held);
      expect(inFlight, `in-flight of ${id} at most`).to.be.at.most(limits.get(id) ?? 0);
      if (queued > 0) expect(inFlight, `in-flight of ${id}, which is waited for`).to.equal(limits.get(id));
    }
  }
}

type Step = (world: World, seed: number) => void | Promise<void>;

const headers = {
  'anthropic-ratelimit-unified-5h-status': 'rejected',
  'anthropic-ratelimit-unified-5h-reset': String(Date.UTC(2026, 0, 1, 0, 0, 20) / 1000),
};

const failures = [
  refusal(400),
  refusal(401),
  refusal(429, { 'retry-after': '3' }),
  refusal(429, headers),
  refusal(529),
  refusal(500),
  failure('interrupted'),
  unreachable(),
  unreachable(true),
];

const steps: Readonly<Record<string, Step>> = {
  lease: (world, seed) => world.lease(seed),
  leaseMore: (world, seed) => world.lease(seed + 1),
  ...leaseSteps(failures),
  pause: ({ kit }, seed) => kit.pool.pause(ids[seed % 3]!),
  drain: ({ kit }, seed) => kit.pool.drain(ids[seed % 3]!),
  resume: ({ kit }, seed) => kit.pool.resume(ids[seed % 3]!),
  pass: ({ kit }, seed) => kit.clock.pass(500 * (seed % 20)),
  reload: ({ kit }, seed) => kit.pool.reload(config(seed)),
};

const ids = ['a', 'b', 'c'];

/** The limits never change, so that they can be checked while what came before a reload goes on. */
const limits = new Map([
  ['a', 1],
  ['b', 2],
  ['c', 3],
]);

function config(seed: number): readonly SlotConfig[] {
  const slots = ids.map((id) =>
    slotConfig(id, {
      maxConcurrent: limits.get(id) ?? 0,
      weight: 1 + (seed % 3),
      baseUrl: `http://127.0.0.1:${1 + (seed % 2)}`,
      models: id === 'c' ? ['sonnet-*'] : ['*'],
    }),
  );
  return seed % 2 === 0 ? slots : slots.toReversed();
}

describe('the pool, whatever happens', () => {
  const step = fc.tuple(fc.constantFrom(...Object.keys(steps)), fc.nat({ max: 1000 }));

  it('counts what is held, grants no more than there is, lets nobody wait for a free place, and is empty in the end', async () => {
    const law = fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (path) => {
      const world = new World(await openPool(config(0)));
      for (const [name, seed] of path) {
        await steps[name]!(world, seed);
        await settled();
        world.check(limits);
      }
      await leaveAll(world);
    });
    await fc.assert(law, { numRuns: 200 });
  }).timeout(30_000);
});

/** Every caller leaves: nobody waits, nothing is held, and every upstream that was replaced is closed. */
async function leaveAll(world: World): Promise<void> {
  for (const caller of world.callers) world.abort(caller);
  await settled();
  expect(world.waiting).to.equal(0);
  expect(world.kit.pool.list().map(({ inFlight, queued }) => inFlight + queued)).to.deep.equal([0, 0, 0]);
  for (const opened of world.kit.upstreams.values()) {
    expect(opened.map(({ isClosed }) => isClosed)).to.deep.equal(
      opened.map((_, at) => at < opened.length - 1),
    );
  }
  await world.kit.pool.close();
  expect(world.kit.clock.timers).to.equal(0);
}
