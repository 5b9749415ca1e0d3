import { expect } from 'chai';
import type { Host, LedgerRow, Live, Store } from '#src/plugin/internal.js';
import { fakeHost, MemoryHub, MemoryStore } from 'gw2api/testing';
import { Limiter, type LimitedHolder } from '#plugins/shared/limiter.js';
import { openRedis, ownRedis, redisUrl } from '../../live/redis-server.js';

const nano = 1e9;
const dayMs = 86_400_000;

/** Live state that instances meet in, and that can be lost. */
interface Meeting {
  connect(now: () => number): Promise<Live>;
  /** Undefined: it cannot be lost here. */
  readonly lose: (() => void) | undefined;
  end(): Promise<void>;
}

function inMemory(): Meeting {
  let now = (): number => 0;
  let current: Live | undefined;
  const live = () => (current ??= new MemoryHub({ now }).connect());
  return {
    async connect(clock) {
      now = clock;
      return {
        ...live(),
        get meters() {
          return live().meters;
        },
      };
    },
    lose: () => void (current = undefined),
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
    lose: undefined,
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
  describe(`budgets of keys and teams over instances that meet in ${where}`, () => {
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

interface UnderWay {
  readonly instance: Limiter;
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
  readonly #store: Store;
  readonly #instances: Limiter[] = [];
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
    for (let at = 0; at < 3; at += 1) {
      const live = await this.#meeting.connect(this.#now);
      const host: Host = fakeHost({ now: this.#now, live, store: this.#store });
      this.#instances.push(new Limiter(host));
    }
    for (let step = 0; step < steps; step += 1) await this.#step(`${label}, step ${step}`);
    return this.#refused;
  }

  async #step(label: string): Promise<void> {
    const chance = this.#random();
    if (chance < 0.55) return this.#arrive(label);
    if (chance < 0.9) return this.#settle();
    if (chance < 0.97) this.#nowMs += Math.floor(this.#random() * dayMs * 0.7);
    else this.#meeting.lose?.();
  }

  async #arrive(label: string): Promise<void> {
    const key = Math.floor(this.#random() * 3);
    const instance = this.#instances[Math.floor(this.#random() * this.#instances.length)]!;
    const holders = holdersOf(key);
    const { counted, refusal } = await instance.admit(holders);
    const isUsedUp = counted.some(({ window, max }) => (this.#spent.get(window.meter) ?? 0) >= max * nano);
    expect(refusal?.code, label).to.equal(isUsedUp ? 'budget_exceeded' : undefined);
    if (refusal) this.#refused += 1;
    else this.#underWay.push({ instance, key, counted, atMs: this.#nowMs, cost: this.#cost() });
  }

  /** One call ends: its row is in the ledger when it counts, as after each response. */
  async #settle(): Promise<void> {
    const [call] = this.#underWay.splice(Math.floor(this.#random() * this.#underWay.length), 1);
    if (!call) return;
    const { instance, key, counted, atMs, cost } = call;
    this.#rows += 1;
    await this.#store.ledger.append([rowOf(String(this.#rows), key, { atMs, cost })]);
    for (const { window } of counted) {
      const before = this.#spent.get(window.meter) ?? 0;
      this.#spent.set(window.meter, before + cost);
    }
    await instance.count(counted, { tokens: 1, cost: { billed: cost, isComplete: true } });
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
