import { setTimeout as sleep } from 'node:timers/promises';
import type { Store, WholeStore } from '#src/state/store/contract/store.js';
import { MemoryHub } from '@gw2api/gateway/testing';
import { Housekeeper } from '#src/state/store/housekeeper.js';
import { quantile } from '../report/statistics.js';
import { seeded } from '../../support/seeded.js';
import { rowAt } from './rows.js';
import { cpuNowMs, TurnWatch } from './turn-watch.js';
import { clockAt } from '../../clock-at.js';

/** Deletes the older half while somebody reads and writes, and says what that was like. */
export async function retention(store: WholeStore, nowMs: number): Promise<string> {
  const beside = new Beside(store, nowMs);
  await sleep(3000);
  const before = beside.sofar();
  const watch = new TurnWatch();
  const cpuMs = cpuNowMs();
  const startedMs = performance.now();
  const warn = (fields: object, message: string) => console.log(message, fields);
  const log = { warn } as never; // all that it needs
  const now = () => nowMs;
  const keeper = new Housekeeper({
    store,
    live: new MemoryHub().connect(),
    keepDays: { ledger: 45, audit: 45 },
    log,
    clock: clockAt(now),
  });
  await keeper.cleanUp();
  const ms = performance.now() - startedMs;
  const usedMs = cpuNowMs() - cpuMs;
  await keeper.close();
  const during = beside.sofar();
  const turn = await watch.end();
  await beside.end();
  const { rows: left } = await store.ledger.requests({ toMs: nowMs - 46 * 86_400_000 }, { limit: 1 });
  return [
    `retention of the older half: ${(ms / 1000).toFixed(1)} s (${(usedMs / 1000).toFixed(1)} s of CPU), ` +
      `longest turn ${turn.ms.toFixed(1)} ms (${turn.cpuMs.toFixed(1)} of CPU), ${left.length === 0 ? 'nothing' : 'something'} left of it`,
    `  memory: ${during.rssMb.map((mb) => mb.toFixed(0)).join(' ')} MB`,
    `  a page beside it: ${before.reads} before, ${during.reads} during`,
    `  ten rows beside it: ${before.writes} before, ${during.writes} during`,
  ].join('\n');
}

/** Somebody who reads a page and writes ten rows, now and then. */
class Beside {
  readonly #store: Store;
  readonly #nowMs: number;
  #readMs: number[] = [];
  #writeMs: number[] = [];
  #rssMb: number[] = [];
  #isOver = false;
  readonly #ended: Promise<unknown>;

  constructor(store: Store, nowMs: number) {
    this.#store = store;
    this.#nowMs = nowMs;
    this.#ended = Promise.all([this.#read(), this.#write(), this.#sample()]);
  }

  /** Figures since the last call. */
  sofar(): { readonly reads: string; readonly writes: string; readonly rssMb: readonly number[] } {
    const every = Math.ceil(this.#rssMb.length / 20);
    const found = {
      reads: spread(this.#readMs),
      writes: spread(this.#writeMs),
      rssMb: this.#rssMb.filter((_, at) => at % every === 0),
    };
    [this.#readMs, this.#writeMs, this.#rssMb] = [[], [], []];
    return found;
  }

  end(): Promise<unknown> {
    this.#isOver = true;
    return this.#ended;
  }

  async #read(): Promise<void> {
    for (; !this.#isOver; await sleep(20)) {
      const startedMs = performance.now();
      await this.#store.ledger.requests({ keyId: 'key-7' }, { limit: 50 });
      this.#readMs.push(performance.now() - startedMs);
    }
  }

  async #write(): Promise<void> {
    const random = seeded(2);
    for (let nth = 10; !this.#isOver; await sleep(20)) {
      const rows = Array.from({ length: 10 }, () => rowAt(this.#nowMs, (nth += 1), random));
      const startedMs = performance.now();
      await this.#store.ledger.append(rows);
      this.#writeMs.push(performance.now() - startedMs);
    }
  }

  async #sample(): Promise<void> {
    for (; !this.#isOver; await sleep(100)) this.#rssMb.push(process.memoryUsage.rss() / 1024 / 1024);
  }
}

function spread(values: readonly number[]): string {
  const [middle, p99, most] = [0.5, 0.99, 1].map((share) => quantile(values, share).toFixed(1));
  return `${values.length} × ${middle} ms (p99 ${p99}, worst ${most})`;
}
