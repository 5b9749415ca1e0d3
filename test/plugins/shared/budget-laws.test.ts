import { expect } from 'chai';
import { fakeHost, MemoryHub, MemoryStore } from '@gw2api/gateway/testing';
import { systemClock, type Host } from '#src/plugin/index.js';
import type { Live } from '#src/plugin/contract/live.js';
import type { LedgerRow } from '#src/state/ledger/contract.js';
import { Limiter, type LimitedHolder } from '#plugins/shared/limiter.js';
import { otherLedgers } from '#src/gateway/open-ledger.js';
import { LedgerWriter } from '#src/state/ledger/writer/ledger-writer.js';
import { withFlushedUsage } from '#src/state/store/read-your-writes-ledger.js';
import { eventually } from '../../eventually.js';
import { forgetAll, openRedis, ownRedis, redisUrl } from '../../state/live/redis-server.js';

const nano = 1e9;
const dayMs = 86_400_000;

/** Live state that instances meet in, and that can be lost. */
interface Meeting {
  connect(now: () => number): Promise<Live>;
  /** Loses all meters. */
  lose(): Promise<void>;
  end(): Promise<void>;
}

function inMemory(): Meeting {
  let now = (): number => 0;
  let lost: MemoryHub | undefined;
  const hub = new MemoryHub({ now: () => now() });
  return {
    async connect(clock) {
      now = clock;
      const live = hub.connect();
      return {
        ...live,
        get instances() {
          return live.instances!;
        },
        get meters() {
          return (lost ??= new MemoryHub({ now })).connect().meters;
        },
      };
    },
    lose: async () => void (lost = undefined),
    end: async () => undefined,
  };
}

function inRedis(): Meeting {
  const place = ownRedis(redisUrl!);
  const opened: Live[] = [];
  return {
    async connect(now) {
      const live = await openRedis(place.where, { log: fakeHost().log, now });
      opened.push(live);
      return live;
    },
    lose: () => forgetAll(place.where),
    async end() {
      for (const live of opened) await live.close();
      await place.remove?.();
    },
  };
}

for (const [where, meet, seeds] of [
  ['memory', inMemory, 40],
  ...(redisUrl === undefined ? [] : [['Redis', inRedis, 4] as const]),
] as const)
  describe(`budgets of keys and teams over instances that meet in ${where}`, function () {
    this.timeout(90_000); // what settles into a lost meter waits a moment

    it('are never passed by more than the calls under way, and refuse nothing below them', async () => {
      let refused = 0;
      for (let seed = 1; seed <= seeds; seed += 1) {
        const meeting = meet();
        try {
          refused += await new World(randomFrom(seed), meeting).run(150, `seed ${seed}`);
        } finally {
          await meeting.end();
        }
      }
      expect(refused).to.be.above(seeds * 5);
    });
  });

/** Instance of a gateway, whose rows wait until its ledger is flushed. */
interface Instance {
  readonly limiter: Limiter;
  readonly ledger: LedgerWriter;
}

describe('a cost that is known in part', () => {
  it('counts in no budget, as it is in no sum of the ledger', async () => {
    const host = fakeHost();
    const limiter = new Limiter(host);
    const { counted } = await limiter.admit(holdersOf(0));
    await limiter.count(counted, { tokens: 1, cost: { billed: 2 * nano, isComplete: false } });
    const { gauges, refusal } = await limiter.admit(holdersOf(0));
    expect(gauges.map(({ used }) => used)).to.deep.equal([0, 0, 0]);
    expect(refusal).to.equal(undefined);
    expect(host.logged.map(({ message }) => message)).to.have.length(1);
  });
});

interface UnderWay {
  readonly instance: Instance;
  readonly key: number;
  readonly counted: Awaited<ReturnType<Limiter['admit']>>['counted'];
  readonly atMs: number;
  readonly cost: number;
}

/** Keys of one team that make calls through several instances, while days and months pass. */
class World {
  readonly #random: Random;
  readonly #meeting: Meeting;
  #nowMs = Date.UTC(2026, 0, 30, 22);
  readonly #store: MemoryStore;
  readonly #instances: Instance[] = [];
  readonly #underWay: UnderWay[] = [];
  /** Nano-USD of settled calls, by budget. */
  readonly #spent = new Map<string, number>();
  #rows = 0;
  #refused = 0;

  constructor(random: Random, meeting: Meeting) {
    this.#random = random;
    this.#meeting = meeting;
    this.#store = new MemoryStore({ now: this.#now });
  }

  readonly #now = (): number => this.#nowMs;

  /** Returns the number of refusals. */
  async run(steps: number, label: string): Promise<number> {
    const lives: Live[] = [];
    for (let at = 0; at < 3; at += 1) lives.push(await this.#meeting.connect(this.#now));
    await eventually(() => lives.every(({ instances }) => instances === 3));
    for (const live of lives) this.#instances.push(this.#instanceOf(live));
    for (let step = 0; step < steps; step += 1) await this.#step(`${label}, step ${step}`);
    return this.#refused;
  }

  #instanceOf(live: Live): Instance {
    const { log } = fakeHost();
    const clock = { ...systemClock, now: this.#now, setTimer: () => () => undefined };
    const ledger = new LedgerWriter({ ledger: this.#store.ledger, log, clock });
    const store = withFlushedUsage(this.#store, ledger, otherLedgers({ live, ledger }));
    const host: Host = fakeHost({ now: this.#now, live, store });
    return { limiter: new Limiter(host), ledger };
  }

  async #step(label: string): Promise<void> {
    const chance = this.#random();
    if (chance < 0.55) return this.#arrive(label);
    if (chance < 0.9) return this.#settle();
    if (chance < 0.93) this.#nowMs += Math.floor(this.#random() * dayMs * 0.7);
    else if (chance < 0.96) await this.#anyInstance().ledger.flush();
    else await this.#meeting.lose();
    if (chance > 0.99) await Promise.all([this.#settle(), this.#settle()]); // into meters that are to be opened
  }

  #anyInstance(): Instance {
    return this.#instances[Math.floor(this.#random() * this.#instances.length)]!;
  }

  async #arrive(label: string): Promise<void> {
    const key = Math.floor(this.#random() * 3);
    const instance = this.#anyInstance();
    const holders = holdersOf(key);
    const { counted, refusal } = await instance.limiter.admit(holders);
    const isUsedUp = counted.some(({ window, max }) => (this.#spent.get(window.meter) ?? 0) >= max * nano);
    expect(refusal?.code, label).to.equal(isUsedUp ? 'budget_exceeded' : undefined);
    if (refusal) this.#refused += 1;
    else this.#underWay.push({ instance, key, counted, atMs: this.#nowMs, cost: this.#cost() });
  }

  /** One call ends: its row waits for the ledger once it is counted, as after each response. */
  async #settle(): Promise<void> {
    const [call] = this.#underWay.splice(Math.floor(this.#random() * this.#underWay.length), 1);
    if (!call) return;
    const { instance, key, counted, atMs, cost } = call;
    this.#rows += 1;
    for (const { window } of counted) {
      const before = this.#spent.get(window.meter) ?? 0;
      this.#spent.set(window.meter, before + cost);
    }
    const { limiter, ledger } = instance;
    const counting = limiter.count(counted, { tokens: 1, cost: { billed: cost, isComplete: true } });
    ledger.write(rowOf(String(this.#rows), key, { atMs, cost }), counting);
    await counting;
  }

  #cost(): number {
    return Math.floor(this.#random() * 0.4 * nano);
  }
}

function holdersOf(key: number): readonly LimitedHolder[] {
  const limits = [{ usdPerDay: 1 }, { usdPerMonth: 2.5 }, { usdPerDay: 0.7, usdPerMonth: 1.1 }][key]!;
  return [
    { kind: 'key', id: `k${key}`, name: `key ${key}`, limits },
    { kind: 'team', id: 't', name: 'team', limits: { usdPerDay: 1.5, usdPerMonth: 4 } },
  ];
}

function rowOf(
  id: string,
  key: number,
  { atMs, cost }: { readonly atMs: number; readonly cost: number },
): LedgerRow {
  const tokens = { input: 1, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };
  return {
    id,
    atMs,
    requestId: 'r',
    keyId: `k${key}`,
    team: 't',
    format: 'messages',
    pipeline: 'default',
    status: 200,
    failed: false,
    streamed: false,
    attempts: 1,
    durationMs: 1,
    billed: tokens,
    shown: tokens,
    cost: { billed: cost, shown: cost },
  };
}

type Random = () => number;

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
