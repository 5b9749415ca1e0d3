import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { appendFile, readdir, utimes } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as immediate } from 'node:timers/promises';
import { expect } from 'chai';
import type { Ledger, LedgerRow } from '#src/state/ledger/contract.js';
import { fakeHost } from '@gw2api/gateway/testing';
import { LedgerWriter, type LedgerWriterOptions } from '#src/state/ledger/writer/ledger-writer.js';
import { MemoryLedger } from '#src/state/store/memory/ledger.js';
import { Spool, type SpoolOptions, type TakeRows } from '#src/state/ledger/spool/spool.js';
import { systemProcesses, type SpoolOwner } from '#src/state/ledger/spool/spool-owner.js';
import { money, row } from '../../store/ledger-conformance.js';
import { ownFolder, type Place } from '../../store/stores.js';

describe('the ledger writer', () => {
  let folder: Place<string>;
  let ledger: Away;
  let writer: LedgerWriter | undefined;
  beforeEach(async () => {
    folder = await ownFolder();
    ledger = new Away();
  });
  afterEach(async () => {
    await writer?.close();
    await folder.remove();
  });

  const open = (options: Partial<LedgerWriterOptions> = {}): LedgerWriter => {
    const spool = new Spool({ folder: folder.where });
    writer = new LedgerWriter({ ledger, spool, log: fakeHost().log, retryMs: 5, ...options });
    return writer;
  };
  const spools = async () => (await readdir(folder.where)).length;

  it('has no more than so many rows in memory, and loses the oldest, while the store is silent', async () => {
    ledger.hold();
    const logged: object[] = [];
    const log = { ...fakeHost().log, error: (fields: object) => void logged.push(fields) };
    open({ log, timeoutMs: 60_000 });
    for (let at = 0; at < 51_000; at += 1) writer!.write(row(String(at), at));
    const { entries, capacity } = writer!.caches['ledger_rows_in_memory']!();
    expect(entries).to.be.within(capacity - 500, capacity);
    expect(logged).to.deep.include({ rows: 500 });
    ledger.release();
    await writer!.flush();
    expect(ledger.rows.has('50999')).to.equal(true);
  });

  it('writes by itself within a moment, many rows at a time', async () => {
    open();
    for (let at = 0; at < 400; at += 1) writer!.write(row(String(at), at));
    while (ledger.rows.size < 400) await ledger.appended();
    expect(ledger.batches).to.deep.equal([250, 150]);
  });

  it('writes a row after it was counted, and keeps no other one waiting for that', async () => {
    open();
    let counted: () => void = () => undefined;
    writer!.write(row('counted', 1), new Promise<void>((resolve) => (counted = resolve)));
    writer!.write(row('other', 2));
    await writer!.flush();
    expect([...ledger.rows.keys()]).to.deep.equal(['other']);
    expect(writer!.waiting).to.equal(1);
    counted();
    await writer!.flush();
    expect([...ledger.rows.keys()]).to.deep.equal(['other', 'counted']);
  });

  it('writes a row that could not be counted', async () => {
    open();
    writer!.write(row('1', 1), Promise.reject(new Error('no meter')));
    await writer!.close();
    expect(ledger.rows.size).to.equal(1);
  });

  it('has written everything once it is closed', async () => {
    open();
    for (let at = 0; at < 10; at += 1) writer!.write(row(String(at), at));
    await writer!.close();
    expect(ledger.rows.size).to.equal(10);
    expect(await spools()).to.equal(0);
  });

  it('spools while the store is gone, and catches up when it is back', async () => {
    ledger.isGone = true;
    open();
    writer!.write(row('1', 1));
    await writer!.flush();
    writer!.write(row('2', 2));
    await writer!.flush();
    expect(writer!.isDown).to.equal(true);
    expect(await spools()).to.be.at.least(1);
    ledger.isGone = false;
    while (writer!.isDown) await immediate();
    writer!.write(row('3', 3));
    await writer!.close();
    expect([...ledger.rows].toSorted()).to.deep.equal(['1', '2', '3']);
    expect(await spools()).to.equal(0);
  });

  it('leaves for the next process what it could not bring to the store', async () => {
    ledger.isGone = true;
    open();
    writer!.write(row('1', 1));
    await writer!.close();
    expect(await spools()).to.equal(1);
    ledger.isGone = false;
    open({ spool: new Spool({ folder: folder.where, orphanedMs: 0 }) });
    while (ledger.rows.size < 1) await ledger.appended();
  });

  it('does not wait for a store that is silent: the rows are spooled, and count once when both have them', async () => {
    ledger.hold();
    open({ timeoutMs: 20 });
    writer!.write(row('1', 1));
    await writer!.flush();
    expect(await spools()).to.equal(1);
    ledger.release();
    while (ledger.batches.length < 2) await ledger.appended();
    await writer!.close();
    const [sum] = await ledger.kept.usage({ fromMs: 0, toMs: 10, by: null, stepMs: 1000 });
    expect(sum?.requests).to.equal(1);
  });

  it('soon brings back what is spooled at the very end of a look into the spool', async () => {
    const spool = new HeldSpool({ folder: folder.where });
    open({ spool });
    await spool.isHeld;
    ledger.isGone = true;
    writer!.write(row('1', 1));
    await writer!.flush();
    ledger.isGone = false;
    spool.release();
    while (ledger.rows.size < 1) await ledger.appended();
  });

  it('keeps rows in memory where there is no spool', async () => {
    ledger.isGone = true;
    open({ spool: undefined } as unknown as LedgerWriterOptions);
    writer!.write(row('1', 1));
    await writer!.flush();
    ledger.isGone = false;
    while (ledger.rows.size < 1) await ledger.appended();
  });
});

describe('the spool', () => {
  let folder: Place<string>;
  beforeEach(async () => {
    folder = await ownFolder();
  });
  afterEach(() => folder.remove());

  const drained = async (spool: Spool): Promise<readonly string[]> => {
    const ids: string[] = [];
    await spool.drain(async (rows) => void ids.push(...rows.map(({ id }) => id)));
    return ids;
  };

  it('gives rows back as they were, once, those of many appends at once too', async () => {
    const spool = new Spool({ folder: path.join(folder.where, 'new') });
    const errorTexts = { text: '"ü"', calls: [{ call: 0, text: '\\' }] };
    const rows = Array.from({ length: 1100 }, (_, at) => ({
      ...row(String(at), at, { model: 'ü\n"', ...money }),
      ...(at % 3 === 0 && { errorTexts }),
    }));
    await Promise.all(rows.map((each) => spool.add([each])));
    const got: LedgerRow[] = [];
    expect(await spool.drain(async (batch) => void got.push(...batch))).to.equal(1100);
    expect(got).to.deep.equal(rows);
    expect(await drained(spool)).to.deep.equal([]);
  });

  it('reads the rows of a version that knew no cost', async () => {
    const { where } = folder;
    const line = `{"id":"1","atMs":5,"requestId":"r","keyId":"k","format":"chat","status":200,"failed":false,"streamed":true,"attempts":1,"durationMs":2,"billed":{"input":1,"cacheRead":0,"cacheWrite5m":0,"cacheWrite1h":0,"output":2},"shown":{"input":1,"cacheRead":0,"cacheWrite5m":0,"cacheWrite1h":0,"output":2},"trace":{"stages":[],"calls":[]}}`;
    await appendFile(path.join(where, 'ledger-abc.ndjson'), `\n${line}`);
    const ledger = new MemoryLedger(10);
    await new Spool({ folder: where, orphanedMs: 0 }).drain((rows) => ledger.append(rows));
    const [sum] = await ledger.usage({ fromMs: 0, toMs: 10, by: 'team', stepMs: 3_600_000 });
    expect(sum).to.include({ group: '', requests: 1, billedCost: 0, unpriced: 1 });
  });

  it('keeps a file that was not taken whole', async () => {
    const spool = new Spool({ folder: folder.where });
    await spool.add([row('1', 1)]);
    const refusal = await spool.drain(() => Promise.reject(new Error('gone'))).catch(String);
    expect(refusal).to.equal('Error: gone');
    expect(await drained(spool)).to.deep.equal(['1']);
  });

  it('keeps a file whose rows were refused for a missing socket of the store', async () => {
    const spool = new Spool({ folder: folder.where });
    await spool.add([row('1', 1)]);
    const missing = Object.assign(new Error('connect ENOENT /run/db'), { code: 'ENOENT' });
    expect(await spool.drain(() => Promise.reject(missing)).catch(String)).to.include('connect ENOENT');
    expect(await drained(spool)).to.deep.equal(['1']);
  });

  it('loses no other row to one that a full disk has cut off', async () => {
    const spool = new Spool({ folder: folder.where });
    await spool.add([row('1', 1)]);
    const [name] = await readdir(folder.where);
    await appendFile(path.join(folder.where, name!), `\n${JSON.stringify(row('2', 1)).slice(0, 40)}`);
    await spool.add([row('2', 1), row('3', 1)]);
    expect(await drained(spool)).to.deep.equal(['1', '2', '3']);
  });

  it('loses nothing of what is added while it is drained', async () => {
    const spool = new Spool({ folder: folder.where });
    const ids: string[] = [];
    for (let round = 0; round < 20; round += 1) {
      const adding = Array.from({ length: 10 }, (_, at) => spool.add([row(`${round} ${at}`, at)]));
      ids.push(...(await drained(spool)));
      await Promise.all(adding);
    }
    ids.push(...(await drained(spool)));
    expect(new Set(ids).size).to.equal(200);
    expect(ids).to.have.length(200);
  });

  it('takes over from another process only what that has left alone, but for a line that was cut off', async () => {
    const crashed = path.join(folder.where, 'ledger-abc.ndjson');
    const line = JSON.stringify(row('1', 1));
    await appendFile(crashed, `${line}\n${line.slice(0, 40)}`);
    const spool = new Spool({ folder: folder.where });
    expect(await drained(spool)).to.deep.equal([]);
    await utimes(crashed, new Date(0), new Date(0));
    expect(await drained(spool)).to.deep.equal(['1']);
    expect(await readdir(folder.where)).to.deep.equal([]);
  });
});

describe('the spool of another process', () => {
  let folder: Place<string>;
  beforeEach(async () => {
    folder = await ownFolder();
  });
  afterEach(() => folder.remove());

  const system = systemProcesses();
  const spoolOf = (own: SpoolOwner) => new Spool({ folder: folder.where, processes: { ...system, own } });

  it('is taken over at once where that has ended, and not while it runs', async () => {
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()']);
    await once(child, 'spawn');
    await spoolOf({ ...system.own, pid: child.pid!, start: startOf(child.pid!) }).add([row('1', 1)]);
    const spool = new Spool({ folder: folder.where });
    const ids: string[] = [];
    const take: TakeRows = async (rows) => void ids.push(...rows.map(({ id }) => id));
    await spool.drain(take);
    if (process.platform === 'linux') expect(ids).to.deep.equal([]); // elsewhere its start is not known
    child.kill('SIGKILL');
    await once(child, 'exit');
    await spool.drain(take);
    expect(ids).to.deep.equal(['1']);
  });

  it('is taken over where its pid is that of a later process, not where it says nothing', async () => {
    const { own } = system;
    for (const owner of [
      { ...own, start: own.start - 1 },
      { ...own, pid: 1 },
      { ...own, host: 'other_host' },
    ])
      await spoolOf(owner).add([row(`${owner.pid} ${owner.start} ${owner.host}`, 1)]);
    const ids: string[] = [];
    await new Spool({ folder: folder.where }).drain(
      async (rows) => void ids.push(...rows.map(({ id }) => id)),
    );
    expect(ids).to.deep.equal([`${own.pid} ${own.start - 1} ${own.host}`]);
  });

  it('is drained from where that has stopped', async () => {
    const killed = spoolOf({ ...system.own, start: system.own.start - 1 });
    await killed.add(Array.from({ length: 30 }, (_, at) => row(String(at), at)));
    let steps = 0;
    const dying: TakeRows = async () => {
      steps += 1;
      if (steps === 3) throw new Error('killed');
    };
    expect(await killed.drain(dying, () => 10).catch(String)).to.equal('Error: killed');
    const ids: string[] = [];
    await new Spool({ folder: folder.where }).drain(
      async (rows) => void ids.push(...rows.map(({ id }) => id)),
    );
    expect(ids).to.deep.equal(Array.from({ length: 10 }, (_, at) => String(at + 20)));
    expect(await readdir(folder.where)).to.deep.equal([]);
  });
});

/** Start of a process as its owner says it, on Linux. */
function startOf(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(text.slice(text.lastIndexOf(') ') + 2).split(' ')[19]);
}

/** A spool that is looked into for the second time until `release`. */
class HeldSpool extends Spool {
  release: () => void = () => undefined;
  readonly isHeld: Promise<void>;
  readonly #released = new Promise<void>((resolve) => (this.release = resolve));
  #hold: () => void = () => undefined;
  #drains = 0;

  constructor(options: SpoolOptions) {
    super(options);
    this.isHeld = new Promise((resolve) => (this.#hold = resolve));
  }

  override async drain(take: TakeRows): Promise<number> {
    const count = await super.drain(take);
    if ((this.#drains += 1) !== 2) return count;
    this.#hold();
    await this.#released;
    return count;
  }
}

/** A ledger that can be gone, or silent, and tells of each append. */
class Away implements Pick<Ledger, 'append'> {
  isGone = false;
  readonly rows = new Set<string>();
  readonly batches: number[] = [];
  readonly kept = new MemoryLedger(10_000);
  readonly #events = new EventTarget();
  #held: Promise<void> | undefined;
  #release: () => void = () => undefined;

  async append(rows: readonly LedgerRow[]): Promise<void> {
    await this.#held;
    if (this.isGone) throw new Error('the store is gone');
    await this.kept.append(rows);
    for (const { id } of rows) this.rows.add(id);
    this.batches.push(rows.length);
    this.#events.dispatchEvent(new Event('append'));
  }

  async appended(): Promise<void> {
    await once(this.#events, 'append');
  }

  hold(): void {
    this.#held = new Promise((resolve) => (this.#release = resolve));
  }

  release(): void {
    this.#release();
  }
}
