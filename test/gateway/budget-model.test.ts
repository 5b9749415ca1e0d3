import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { fakeHost, MemoryHub, MemoryStore } from '@gw2api/gateway/testing';
import { Limiter, type LimitedHolder } from '#plugins/shared/limiter.js';
import { otherLedgers } from '#src/gateway/open-ledger.js';
import { refreshLimits } from '#src/gateway/used-limits.js';
import { LedgerWriter } from '#src/state/ledger/writer/ledger-writer.js';
import { withFlushedUsage } from '#src/state/store/read-your-writes-ledger.js';
import { Spool } from '#src/state/ledger/spool/spool.js';
import type { SpoolOwner } from '#src/state/ledger/spool/spool-owner.js';
import { withUsageFloor } from '#src/state/live/usage-floor.js';
import { limitWindow, systemClock } from '#src/plugin/index.js';
import type { Live } from '#src/plugin/contract/live.js';
import type { AppendedRow, Ledger } from '#src/state/ledger/contract.js';
import { row } from '../state/store/ledger-conformance.js';
import { ownFolder, type Place } from '../state/store/stores.js';

/** A budget of 10 USD a month; each call costs 1 to 4. */
const max = 10;
const nano = 1e9;
const holders: readonly LimitedHolder[] = [
  { kind: 'key', id: 'k', name: 'key', limits: { usdPerMonth: max } },
  { kind: 'team', id: 't', name: 'team', limits: { usdPerMonth: max } },
];

const startMs = Date.UTC(2026, 0, 15);

/**
 * Steps of a run; `at` is an instance, `cost` in USD. An instance that loses an answer is cut off: the store has its
 * next rows after so many `reads` of the ledger, and it does not hear of that.
 */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      at: fc.nat(3),
      cost: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'flush' as const,
        'kill' as const,
        'kill after append' as const,
        'cut off' as const,
      ),
      at: fc.nat(3),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('lose an answer' as const), at: fc.nat(3), reads: fc.nat(6) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'store goes' as const,
        'store comes' as const,
        'drain' as const,
        'live is lost' as const,
      ),
      at: fc.nat(3),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** An instance that the store is away from for it alone is killed, and its meters are lost: its spool alone knows. */
const inOneSpool: readonly Step[] = [
  { do: 'cut off', at: 1 },
  ...Array.from({ length: 3 }, () => ({ do: 'call', at: 1, cost: 4 }) as const),
  { do: 'flush', at: 1 },
  { do: 'kill', at: 1 },
  { do: 'live is lost', at: 0 },
  { do: 'call', at: 0, cost: 1 },
];

/** Some of the use is in the ledger, and some in the spool of an instance that cannot reach the store. */
const inBoth: readonly Step[] = [
  { do: 'cut off', at: 0 },
  { do: 'call', at: 0, cost: 3 },
  { do: 'call', at: 1, cost: 4 },
  { do: 'call', at: 1, cost: 4 },
  { do: 'flush', at: 1 },
  { do: 'kill', at: 1 },
  { do: 'live is lost', at: 0 },
  { do: 'call', at: 1, cost: 1 },
];

/** Rows that are in the ledger, and in the spool of an instance that does not know it, are counted once. */
const inBothUnheard: readonly (readonly Step[])[] = [0, 1, 2, 3, 4, 5].map((reads) => [
  { do: 'lose an answer', at: 0, reads },
  { do: 'call', at: 0, cost: 3 },
  { do: 'call', at: 0, cost: 3 },
  { do: 'flush', at: 0 },
  { do: 'live is lost', at: 0 },
  { do: 'call', at: 1, cost: 1 },
  { do: 'call', at: 1, cost: 4 },
  { do: 'call', at: 1, cost: 1 },
]);

/** The same where a later process has taken the spool over, and nobody remembers the meter. */
const inBothAfterKill = inBothUnheard.map((steps) => steps.toSpliced(4, 0, { do: 'kill', at: 0 }));

/** The same where the answer to a drain is lost. */
const inBothAfterDrain: readonly Step[] = [
  { do: 'store goes', at: 0 },
  { do: 'call', at: 0, cost: 1 },
  { do: 'flush', at: 0 },
  { do: 'call', at: 0, cost: 4 },
  { do: 'flush', at: 0 },
  { do: 'lose an answer', at: 0, reads: 0 },
  { do: 'store comes', at: 0 },
  { do: 'live is lost', at: 0 },
  { do: 'call', at: 1, cost: 3 },
  { do: 'call', at: 1, cost: 1 },
];

describe('a budget over kills, restarts and outages', function () {
  this.timeout(120_000);
  for (const [where, hosts] of [
    ['one instance on one host, whose meters end with it', [1]],
    ['two instances on one host', [2]],
    ['two instances on one host and two on another', [2, 2]],
  ] as const)
    it(`is neither passed nor refused below it by ${where}`, async () => {
      const run = async (steps: readonly Step[]) => {
        const world = await World.open(hosts);
        try {
          for (const each of steps) await world.do(each);
        } finally {
          await world.close();
        }
      };
      await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), run), {
        numRuns: 55,
        examples: [inOneSpool, inBoth, ...inBothUnheard, ...inBothAfterKill, inBothAfterDrain].map(
          (steps): [Step[]] => [[...steps]],
        ),
      });
    });
});

/** Row of a settled call, and where it may still be. */
interface Settled {
  readonly id: string;
  readonly cost: number;
  /** True once its process was killed before the row was in a file. */
  isLost: boolean;
}

/** Never settles: a process that was killed does nothing more, neither at the store nor in its spool nor for others. */
const never = new Promise<never>(() => undefined);

/** Process of a gateway. */
class Instance {
  readonly place: number;
  readonly owner: SpoolOwner;
  readonly limiter: Limiter;
  readonly ledger: LedgerWriter;
  readonly rows: Settled[] = [];
  /** Dies once the store has its next rows, before it hears of that. */
  isDying = false;
  isDead = false;
  /** Reads of the ledger before its next rows are there, of which it does not hear. */
  readsUnheard: number | undefined;
  /** Resolves at its death. */
  readonly died: Promise<void>;
  #die = (): void => undefined;
  readonly #live: Live;

  constructor(world: World, place: number, owner: SpoolOwner, live: Live) {
    this.place = place;
    this.owner = owner;
    this.died = new Promise((resolve) => {
      this.#die = resolve;
    });
    const folder = world.folderOf(place);
    this.#live = live;
    const stateOf = (other: SpoolOwner) =>
      other.host === owner.host ? world.stateOf(other) : ('unknown' as const);
    const spool = new Spool({ folder, processes: { own: owner, stateOf } });
    const { log } = fakeHost();
    const { now, clock } = world;
    const ledger: LedgerWriter = new LedgerWriter({
      ledger: { append: (rows) => this.#append(world, rows) },
      log,
      clock,
      spool,
      onRecovered: (found) => {
        const refreshing = refreshLimits(found, { live, store, log, now, clock });
        world.refreshing = Promise.race([refreshing, this.died.then(() => Promise.reject())]).catch(() =>
          world.isNotRefreshed(this),
        );
        return refreshing;
      },
    });
    const read = async <Result>(reading: () => Promise<Result>): Promise<Result> => {
      if (this.isDead) return never;
      if (world.isAwayFor(this.place)) throw new Error('the store is away');
      return world.read(reading);
    };
    const reads: Pick<Ledger, 'usage' | 'find'> = {
      usage: (query) => read(() => world.store.ledger.usage(query)),
      find: (keys) => read(() => world.store.ledger.find(keys)),
    };
    const over = Object.assign(Object.create(world.store) as MemoryStore, {
      ledger: Object.assign(Object.create(world.store.ledger) as Ledger, reads),
    });
    this.others = otherLedgers({ live, ledger });
    const store = withFlushedUsage(over, ledger, this.others);
    this.ledger = ledger;
    this.limiter = new Limiter(fakeHost({ now, clock, live, store }));
  }

  readonly others: ReturnType<typeof otherLedgers>;

  async #append(world: World, rows: readonly AppendedRow[]): Promise<void> {
    if (this.isDead) return never;
    if (world.isAwayFor(this.place)) throw new Error('the store is away');
    if (this.readsUnheard !== undefined) {
      await world.appendLate(rows, this.readsUnheard);
      this.readsUnheard = undefined;
      world.cutOff(this.place);
      throw new Error('the store has not answered');
    }
    await world.append(rows);
    if (!this.isDying) return;
    await this.kill(world);
    return never;
  }

  async kill(world: World): Promise<void> {
    this.isDead = true;
    await this.#live.close();
    world.killed(this);
    this.#die();
  }

  recover(): Promise<void> {
    return this.lives(this.ledger.recover(() => this.others.spools()));
  }

  /** Does work until it dies. */
  async lives(work: Promise<unknown>): Promise<void> {
    await Promise.race([work, this.died]);
  }
}

class World {
  readonly now = (): number => this.#nowMs;
  readonly clock = { ...systemClock, now: this.now, setTimer: () => () => undefined };
  readonly store = new MemoryStore({ now: this.now });
  readonly inStore = new Set<string>();
  isStoreAway = false;
  refreshing: Promise<void> = Promise.resolve();
  readonly #hosts: readonly Place<string>[];
  readonly #places: readonly number[];
  readonly #hub = new MemoryHub({ now: this.now });
  readonly #instances: Instance[] = [];
  readonly #alive = new Set<SpoolOwner>();
  readonly #settled: Settled[] = [];
  #meters: Live['meters'];
  #pids = 1;
  /** Meters that nobody raises any more. */
  #lacking: Live['meters'] | undefined;
  /** Places whose instance cannot reach the store, though others can. */
  readonly #cutOff = new Set<number>();
  /** Rows that come to the store after some reads. */
  #late: { readonly rows: readonly AppendedRow[]; reads: number }[] = [];
  #nowMs = startMs;
  #hasKilled = false;
  /** True while store and meters are away, after what an instance knew was lost with it. */
  #isBlind = false;

  static async open(hosts: readonly number[]): Promise<World> {
    const world = new World(
      await Promise.all(hosts.map(ownFolder)),
      hosts.flatMap((count, host) => Array.from({ length: count }, () => host)),
    );
    for (const at of world.#places.keys()) await world.#start(at);
    return world;
  }

  private constructor(hosts: readonly Place<string>[], places: readonly number[]) {
    this.#hosts = hosts;
    this.#places = places;
    this.#meters = this.#noMeters();
  }

  #noMeters(): Live['meters'] {
    return new MemoryHub({ now: this.now }).connect().meters;
  }

  async #areOpen(): Promise<boolean> {
    const windows = holders.map((holder) => limitWindow('usdPerMonth', holder, this.#nowMs));
    const readings = await Promise.all(windows.map(async ({ meter }) => this.#meters.read(meter)));
    return readings.every(Boolean);
  }

  async do(each: Step): Promise<void> {
    const place = each.at % this.#places.length;
    const instance = this.#instances[place]!;
    await this.#act(each, place, instance);
    await this.refreshing;
    for (const [other, { isDead }] of this.#instances.entries()) if (isDead) await this.#start(other);
  }

  async #act(each: Step, place: number, instance: Instance): Promise<void> {
    if (each.do === 'call') await instance.lives(this.#call(instance, 'cost' in each ? each.cost : 1));
    else if (each.do === 'flush') await instance.lives(instance.ledger.flush());
    else if (each.do === 'drain') await instance.recover();
    else if (each.do === 'kill') await instance.kill(this);
    else if (each.do === 'kill after append') instance.isDying = true;
    else if (each.do === 'cut off') this.cutOff(place);
    else if (each.do === 'lose an answer') instance.readsUnheard = 'reads' in each ? each.reads : 0;
    else if (each.do === 'live is lost') this.#meters = this.#noMeters();
    else {
      this.isStoreAway = each.do === 'store goes';
      this.#cutOff.clear();
      this.#nowMs += 61_000; // what was opened without the ledger is opened anew
      if (!this.isStoreAway) await this.#recover();
    }
  }

  /** The meters lack what came to the store: until it is back, or for good where the process that knew is killed. */
  isNotRefreshed({ isDead }: Instance): void {
    this.#isBlind = true;
    if (isDead) this.#lacking = this.#meters;
  }

  folderOf(place: number): string {
    return path.join(this.#hosts[this.#places[place]!]!.where, 'spool');
  }

  async append(rows: readonly AppendedRow[]): Promise<void> {
    await this.store.ledger.append(rows);
    for (const { id } of rows) this.inStore.add(id);
  }

  async appendLate(rows: readonly AppendedRow[], reads: number): Promise<void> {
    if (reads === 0) await this.append(rows);
    else this.#late.push({ rows, reads });
  }

  async read<Result>(reading: () => Promise<Result>): Promise<Result> {
    const result = await reading();
    for (const late of this.#late) late.reads -= 1;
    const due = this.#late.filter(({ reads }) => reads === 0);
    this.#late = this.#late.filter(({ reads }) => reads > 0);
    for (const { rows } of due) await this.append(rows);
    return result;
  }

  cutOff(place: number): void {
    this.#cutOff.add(place);
  }

  isAwayFor(place: number): boolean {
    return this.isStoreAway || this.#cutOff.has(place);
  }

  stateOf(owner: SpoolOwner): 'alive' | 'dead' {
    return this.#alive.has(owner) || [...this.#alive].some(({ pid }) => pid === owner.pid) ? 'alive' : 'dead';
  }

  killed({ owner }: Instance): void {
    this.#alive.delete(owner);
    this.#hasKilled = true;
    if (this.#places.length === 1) this.#meters = this.#noMeters();
  }

  async #recover(): Promise<void> {
    for (const instance of this.#instances) await instance.recover();
    await this.refreshing;
    this.#isBlind = false;
  }

  async close(): Promise<void> {
    this.isStoreAway = true;
    await Promise.all(this.#instances.map((instance) => instance.ledger.close()));
    await Promise.all(this.#hosts.map(({ remove }) => remove()));
  }

  /** Starts a process in place of one that has died, which recovers what that has left before it serves. */
  async #start(at: number): Promise<void> {
    const host = this.#places[at]!;
    const owner = { host: `host${host}`, pid: (this.#pids += 1), start: 1 };
    this.#alive.add(owner);
    const live = this.#hub.connect();
    const meters = new Proxy(live.meters, {
      get: (_, name: 'read') => {
        if (!this.#alive.has(owner)) return () => never;
        return this.#meters[name].bind(this.#meters);
      },
    });
    const shared = withUsageFloor({
      ...live,
      get instances() {
        return live.instances;
      },
      meters,
    });
    const before = this.#instances[at];
    const instance = new Instance(this, at, owner, shared);
    this.#instances[at] = instance;
    const spooled = await idsIn(this.folderOf(at));
    for (const each of before?.rows ?? []) each.isLost = !spooled.has(each.id);
    await instance.recover();
    await this.refreshing;
  }

  async #call(instance: Instance, cost: number): Promise<void> {
    const wasOpen = await this.#areOpen();
    const { counted, refusal } = await instance.limiter.admit(holders);
    if (!wasOpen && this.isAwayFor(instance.place) && this.#hasKilled) this.#isBlind = true;
    const spent = this.#settled.reduce((sum, settled) => sum + settled.cost, 0);
    const lost = this.#settled.filter(({ isLost, id }) => isLost && !this.inStore.has(id));
    const known = lost.reduce((sum, settled) => sum - settled.cost, spent);
    if (refusal) expect(spent, 'refused below the budget').to.be.at.least(max);
    else if (!this.#isBlind && this.#lacking !== this.#meters) expect(known, 'passed').to.be.below(max);
    if (refusal) return;
    const id = String(this.#settled.length);
    const settled: Settled = { id, cost, isLost: false };
    this.#settled.push(settled);
    instance.rows.push(settled);
    const counting = instance.limiter.count(counted, {
      tokens: 1,
      cost: { billed: cost * nano, isComplete: true },
    });
    const billed = { billed: cost * nano, shown: cost * nano };
    instance.ledger.write(row(id, this.#nowMs, { keyId: 'k', team: 't', cost: billed }), counting);
    await counting;
  }
}

/** Ids of the rows in the files of a spool. */
async function idsIn(folder: string): Promise<ReadonlySet<string>> {
  const names = await readdir(folder).catch(() => []);
  const read = (name: string) => readFile(path.join(folder, name), 'utf8');
  const texts = await Promise.all(names.map(read)).catch(() => undefined);
  if (!texts) return idsIn(folder); // one was claimed meanwhile
  const lines = texts.flatMap((text) => text.split('\n').filter(Boolean));
  return new Set(lines.map((line) => (JSON.parse(line) as AppendedRow).id));
}
