import { expect } from 'chai';
import * as fc from 'fast-check';
import { Callers, leaseSteps } from './callers.js';
import { calm, openInstances, slowly, type Instances } from './instances.js';
import { failure, leaseRequest, refusal, slotConfig, type Kit } from './kit.js';

const limits: Readonly<Record<string, number>> = { a: 1, b: 2, c: 3 };

function config(seed: number) {
  return Object.entries(limits).map(([id, maxConcurrent]) =>
    slotConfig(id, { maxConcurrent, weight: 1 + (seed % 3), baseUrl: `http://127.0.0.1:${1 + (seed % 2)}` }),
  );
}

/** What is held and who waits in several instances, and what must be true of it at any time. */
class World extends Callers {
  readonly instances: Instances;

  constructor(instances: Instances) {
    super();
    this.instances = instances;
  }

  kit(seed: number): Kit {
    return this.instances.kits[seed % 3]!;
  }

  check(): void {
    for (const [id, limit] of Object.entries(limits)) {
      const held = [...this.held.keys()].filter(({ slot }) => slot.id === id);
      expect(held.length, `held of ${id}`).to.be.at.most(limit);
    }
  }

  /** Nobody waits while there is room; then all leave, and every place is free. */
  async end(): Promise<void> {
    const { kits, clock, hub } = this.instances;
    for (const { pool } of kits) for (const id of Object.keys(limits)) pool.resume(id);
    for (let times = 0; times < 5; times += 1) {
      await calm();
      clock.pass(60);
    }
    await calm();
    for (const { pool } of kits)
      for (const { id, inFlight, queued } of pool.list())
        if (queued > 0) expect(inFlight, `in-flight of ${id}, which is waited for`).to.equal(limits[id]);
    for (const caller of this.callers) caller.abort(new Error('gone'));
    await calm();
    expect(this.waiting).to.equal(0);
    const { permits } = hub.connect();
    expect(Object.keys(limits).map((id) => permits.heldElsewhere(id))).to.deep.equal([0, 0, 0]);
    await Promise.all(kits.map(({ pool }) => pool.close()));
    expect(clock.timers).to.equal(0);
  }
}

const failures = [
  refusal(400),
  refusal(401),
  refusal(429, { 'retry-after': '1' }),
  refusal(529),
  refusal(500),
  failure('interrupted'),
];

const steps: Readonly<Record<string, (world: World, seed: number) => void>> = {
  lease: (world, seed) => {
    const caller = world.come();
    const session = seed % 2 === 0 ? { sticky: { key: `s${seed % 5}`, ttlMs: 60_000 } } : {};
    const request = leaseRequest({ ...session, queueTimeoutMs: 100 + seed, signal: caller.signal });
    world.ask(world.kit(seed).pool, request, caller);
  },
  leaseMore: (world, seed) => steps['lease']!(world, seed + 1),
  leaseStillMore: (world, seed) => steps['lease']!(world, seed + 7),
  ...leaseSteps(failures),
  pause: (world, seed) => world.kit(seed).pool.pause('abc'[seed % 3]!),
  resume: (world, seed) => world.kit(seed).pool.resume('abc'[seed % 3]!),
  pass: ({ instances }, seed) => instances.clock.pass(seed % 120),
  reload: (world, seed) => void world.kit(seed).pool.reload(config(seed)),
};

describe('several pools, whatever happens', () => {
  const step = fc.tuple(fc.constantFrom(...Object.keys(steps)), fc.nat({ max: 1000 }));

  for (const [how, connect] of [
    ['granted at once', undefined],
    ['asked for', slowly],
  ] as const) {
    it(`never hold more than there is, lose no place, and leave nobody waiting for a free one, places being ${how}`, async () => {
      const path = fc.array(step, { minLength: 20, maxLength: 80 });
      const law = fc.asyncProperty(path, async (taken) => {
        const world = new World(await openInstances(config(0), { count: 3, ...(connect && { connect }) }));
        for (const [name, seed] of taken) {
          steps[name]!(world, seed);
          if (seed % 3 > 0) await calm(seed % 3);
          world.check();
        }
        await world.end();
      });
      await fc.assert(law, { numRuns: 150 });
    }).timeout(60_000);
  }
});
