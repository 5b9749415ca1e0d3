import { expect } from 'chai';
import type { Live } from '#src/plugin/contract/live.js';
import { eventually } from '../../eventually.js';
import { IpcRig } from '../../state/live/ipc-rig.js';
import { openRedis, ownRedis, redisUrl } from '../../state/live/redis-server.js';
import { quiet } from '../../state/store/stores.js';
import { failure, openPool, refusal, slotConfig, sticky, leaseRequest, type Kit } from './kit.js';
import { MemoryHub } from '#src/state/live/memory/hub.js';
import { MemoryStore } from '#src/state/store/memory/store.js';
import { clockAt } from '../../clock-at.js';

const differenceMs = 120_000;

/** Where instances meet, each with a clock of its own. */
interface Place {
  connect(now: () => number): Promise<Live>;
  close(): Promise<void>;
}

const kinds: Readonly<Record<string, () => Promise<Place>>> = {
  'in memory': async () => {
    const hub = new MemoryHub();
    return { connect: async () => hub.connect(), close: async () => undefined };
  },
  'through a primary': async () => {
    const rig = new IpcRig();
    return { connect: (now) => rig.connect(now), close: async () => rig.end() };
  },
  ...(redisUrl !== undefined && {
    'through Redis': async () => {
      const { where, remove } = ownRedis(redisUrl!);
      return { connect: (now) => openRedis(where, { log: quiet, now }), close: remove };
    },
  }),
};

for (const [kind, openPlace] of Object.entries(kinds))
  describe(`instances whose clocks differ by two minutes, ${kind}`, () => {
    let place: Place;
    let lives: Live[];
    /** Right, two minutes slow, two minutes fast. */
    let kits: Kit[];
    const clocks = [0, -differenceMs, differenceMs].map((aheadMs) => () => Date.now() + aheadMs);
    const slots = ['a', 'b'].map((id) => slotConfig(id));
    beforeEach(async () => {
      place = await openPlace();
      lives = [];
      kits = [];
      for (const now of clocks) {
        const live = await place.connect(now);
        lives.push(live);
        kits.push(await openPool(slots, { live, poolClock: clockAt(now), store: new MemoryStore() }));
      }
    });
    afterEach(async () => {
      for (const { pool } of kits) await pool.close();
      for (const live of lives) await live.close();
      await place.close();
    });

    const statusOf = (instance: number) => kits[instance]!.pool.list()[0]!;
    const all = [0, 1, 2];
    const lease = (instance: number) =>
      kits[instance]!.pool.lease(leaseRequest({ policy: (free) => free.find(({ id }) => id === 'a')! }));

    /** What is left of the cooldown by the clock of an instance. */
    const leftMs = (instance: number) => {
      const { untilMs, models } = statusOf(instance);
      return (untilMs ?? models[0]?.untilMs ?? 0) - clocks[instance]!();
    };

    for (const teller of all) {
      it(`have the same cooldown, begun by instance ${teller}`, async () => {
        (await lease(teller)).failed(refusal(429, { 'retry-after': '60' }));
        await eventually(() => all.every((instance) => statusOf(instance).models.length > 0));
        for (const instance of all) expect(leftMs(instance)).to.be.within(30_000, 60_500);
        kits[teller]!.pool.resume('a');
        await eventually(() => all.every((instance) => statusOf(instance).models.length === 0));
      });

      it(`have the same exhausted window, seen by instance ${teller}`, async () => {
        const prefix = 'anthropic-ratelimit-unified';
        const resetsAtMs = Math.ceil((clocks[teller]!() + 300_000) / 1000) * 1000;
        const headers = {
          [`${prefix}-5h-status`]: 'rejected',
          [`${prefix}-5h-utilization`]: '1',
          [`${prefix}-5h-reset`]: String(resetsAtMs / 1000),
        };
        (await lease(teller)).failed(refusal(429, headers));
        await eventually(() => all.every((instance) => statusOf(instance).state === 'cooling'));
        for (const instance of all) {
          expect(leftMs(instance)).to.be.within(270_000, 301_500);
          expect(statusOf(instance).windows['5h']).to.deep.equal({ percentUsed: 100, resetsAtMs });
        }
      });

      it(`have the same rejection, pause and resumption, told by instance ${teller}`, async () => {
        (await lease(teller)).failed(refusal(401));
        await eventually(() => all.every((instance) => statusOf(instance).state === 'rejected'));
        const other = (teller + 1) % all.length;
        kits[other]!.pool.resume('a');
        await eventually(() => all.every((instance) => statusOf(instance).state === 'ready'));
        (await lease(other)).failed(refusal(401));
        await eventually(() => all.every((instance) => statusOf(instance).state === 'rejected'));
        kits[teller]!.pool.pause('a');
        await eventually(() => all.every((instance) => statusOf(instance).state === 'paused'));
        kits[other]!.pool.resume('a');
        await eventually(() => all.every((instance) => statusOf(instance).state === 'ready'));
      });

      it(`have the same claim and the same binding of a session, made by instance ${teller}`, async () => {
        const request = sticky('k:s', { sticky: { key: 'k:s', ttlMs: 60_000 } });
        const first = await kits[teller]!.pool.lease(request);
        for (const instance of all) {
          const next = await kits[instance]!.pool.lease(request);
          expect(next.slot.id).to.equal(first.slot.id);
          next.failed(failure('timeout'));
        }
        first.answered({});
        first.release();
        await eventually(() =>
          all.every((instance) => kits[instance]!.pool.list().some(({ bindings }) => bindings === 1)),
        );
      });
    }
  });
