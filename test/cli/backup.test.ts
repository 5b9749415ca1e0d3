import { access, copyFile, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import type { UsageSum } from '#src/plugin/contract/ledger.js';
import { openStore } from '#src/state/store/index.js';
import { migrate } from '#src/state/store/sql/tables/migrate.js';
import { migrations } from '#src/state/store/sql/tables/migrations.js';
import { openSqlite } from '#src/state/store/sql/sqlite/sqlite.js';
import { startSqliteThread } from '#src/state/store/sql/sqlite/sqlite-thread.js';
import { ask } from '../whole/harness.js';
import { ProcessWorkshop, type Ended, type GatewayProcess } from '../whole/gateway-process.js';
import { PanelClient } from '../whole/console/panel-client.js';
import { eventually } from '../eventually.js';
import { quiet } from '../state/store/stores.js';

const masterKey = 'the-master-key-of-a-test';
const env = { GW2API_API_KEY: masterKey, GW_SECRET_KEY: 'the secret of a test' };

describe('gw2api backup and restore', function () {
  this.timeout(120_000);
  const workshop = new ProcessWorkshop();
  let cwd: string;
  let file: string;
  beforeEach(async () => {
    cwd = await workshop.folder({ 'config/gateway.yaml': config('sqlite:./data/gateway.db') });
    file = path.join(cwd, 'data/gateway.db');
  });
  afterEach(() => workshop.end());

  const run = (...args: string[]): Promise<Ended> => workshop.run({ args, cwd, env });
  /** In a process of its own: the lock on the file before it ends with the process. */
  const restore = (name: string): Promise<Ended> => workshop.spawn({ args: ['restore', name], cwd, env });
  const start = async (): Promise<Served> => {
    const gateway = await workshop.start({ cwd, env });
    return new Served(gateway, await gateway.url());
  };

  it('copies a file to which a gateway writes, and puts it back', async () => {
    const served = await start();
    const key = await served.issueKey('one');
    await served.panel.ask('POST', '/slots', { id: 'b', upstream: 'simulator', models: ['haiku-*'] });
    const load = new Load(served.url, key);
    await load.more(50);
    const copies: Contents[] = [];
    for (const name of ['first.db', 'second.db', 'third.db']) {
      const before = await served.requests();
      const made = await run('backup', name);
      expect(made.code, made.stderr).to.equal(0);
      expect(made.stdout).to.match(
        /was copied to .*1 key, 1 slot, .*integrity was checked\..*GW_SECRET_KEY \(in \.env\)/s,
      );
      const copy = await contentsOf(path.join(cwd, name));
      expect(copy.rows).to.be.at.least(before);
      copies.push(copy);
      await load.more(20);
    }
    expect(await load.end()).to.deep.equal([]);
    expect((await stat(path.join(cwd, 'first.db'))).mode & 0o777).to.equal(0o600);
    for (const { keys, slots, rows, summed } of copies) {
      expect(summed).to.equal(rows); // of one moment: no row without its sum
      expect(keys).to.deep.equal(['one']);
      expect(slots).to.deep.equal(['b']);
    }
    const refused = await restore('second.db');
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.match(/has .*gateway\.db open: stop it first/);
    await served.end();
    const all = (await contentsOf(file)).rows;

    const restored = await restore('second.db');
    expect(restored.code, restored.stderr).to.equal(0);
    expect(await contentsOf(file)).to.deep.equal(copies[1]);
    const kept = (await readdir(path.join(cwd, 'data'))).filter((name) => name.includes('.before-'));
    expect(kept).to.have.length(1);
    expect((await contentsOf(path.join(cwd, 'data', kept[0]!))).rows).to.equal(all);
    const again = await start();
    expect(await new Load(again.url, key).once()).to.equal(200);
    await again.end();
    expect((await contentsOf(file)).rows).to.equal(copies[1]!.rows + 1);
  });

  it('writes over no file, and leaves none where it fails', async () => {
    await makeStore(file);
    await writeFile(path.join(cwd, 'taken.db'), 'mine');
    expect((await run('backup', 'taken.db')).stderr).to.include('it already exists');
    expect(await readFile(path.join(cwd, 'taken.db'), 'utf8')).to.equal('mine');
    expect((await run('backup', 'no-folder/x.db')).code).to.equal(1);
    expect(await run('backup')).to.include({ code: 2 });
    await writeFile(file, 'no database at all, and long enough to be looked at as one');
    const failed = await run('backup', 'new.db');
    expect(failed.stderr).to.include('not a SQLite file');
    expect((await readdir(cwd)).filter((name) => name.startsWith('new.db'))).to.deep.equal([]);
  });

  it('restores over a damaged file, which it keeps', async () => {
    await makeStore(file);
    await run('backup', 'good.db');
    await writeFile(file, 'garbage '.repeat(1000));
    const { code, stdout, stderr } = await restore('good.db');
    expect(code, stderr).to.equal(0);
    expect(stdout).to.include('is kept as');
    await contentsOf(file);
  });

  it('restores where there was no file', async () => {
    await makeStore(file);
    await run('backup', 'good.db');
    const elsewhere = await workshop.folder({ 'config/gateway.yaml': config('sqlite:./data/gateway.db') });
    await copyFile(path.join(cwd, 'good.db'), path.join(elsewhere, 'good.db'));
    const { code, stdout } = await workshop.run({ args: ['restore', 'good.db'], cwd: elsewhere, env });
    expect(code).to.equal(0);
    expect(stdout).not.to.include('is kept as');
    expect(
      (await readdir(path.join(elsewhere, 'data'))).filter((name) => !name.endsWith('-shm')),
    ).to.deep.equal(['gateway.db']);
  });

  it('takes no backup that is damaged, of something else, or of a newer version', async () => {
    const before = await makeStore(file);
    await run('backup', 'good.db');
    const bytes = await readFile(path.join(cwd, 'good.db'));
    await writeFile(path.join(cwd, 'half.db'), bytes.subarray(0, bytes.length / 2));
    await writeFile(path.join(cwd, 'text.db'), 'a text of some length, which is no database '.repeat(20));
    const newer = await openSqlite(startSqliteThread(path.join(cwd, 'newer.db')));
    await migrate(newer, 'sqlite', [...migrations, { name: '9999-later', up: async () => undefined }]);
    await newer.destroy();
    for (const [name, why] of [
      ['half.db', /damaged|cannot be/],
      ['text.db', /not a SQLite file/],
      ['newer.db', /newer version of gw2api \(it has "9999-later"\)/],
      ['missing.db', /missing\.db cannot be restored: the file or folder does not exist/],
    ] as const) {
      const { code, stderr } = await run('restore', name);
      expect(stderr).to.match(why);
      expect(code).to.equal(1);
    }
    expect(await contentsOf(file)).to.deep.equal(before);
    await access(file);
    expect((await readdir(path.join(cwd, 'data'))).join()).not.to.match(/restoring|before-/);
  });

  it('says how to back PostgreSQL up, without the password', async () => {
    const folder = await workshop.folder({
      'config/gateway.yaml': config('postgres://me:hidden@db.example/gw'),
    });
    const { code, stderr } = await workshop.run({ args: ['backup', 'x'], cwd: folder, env });
    expect(stderr)
      .to.include("pg_dump --format=custom --file=FILE 'postgres://me@db.example/gw'")
      .and.not.include('hidden');
    expect(code).to.equal(2);
  });
});

function config(store: string): object {
  const stages = ['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'];
  return { pipeline: stages.map((use) => ({ use })), slots: [{ id: 'a', upstream: 'simulator' }], store };
}

interface Contents {
  readonly rows: number;
  /** Requests by the sums of hours. */
  readonly summed: number;
  readonly keys: readonly string[];
  readonly slots: readonly string[];
}

const forever = { fromMs: 0, toMs: 8e15, by: null, stepMs: 3_600_000 } as const;
const totalOf = (sums: readonly UsageSum[]) => sums.reduce((total, { requests }) => total + requests, 0);

/** Makes a file as a gateway does at its first start. */
async function makeStore(file: string): Promise<Contents> {
  const store = await openStore({ kind: 'sqlite', file }, { log: quiet, secretKey: env.GW_SECRET_KEY });
  await store.close();
  return contentsOf(file);
}

/** What is in a file that no gateway has open. */
async function contentsOf(file: string): Promise<Contents> {
  const store = await openStore({ kind: 'sqlite', file }, { log: quiet, secretKey: env.GW_SECRET_KEY });
  const rows = await countRows(store.ledger);
  const [keys, slots] = [await store.keys.list(), await store.slots.list()];
  const summed = totalOf(await store.ledger.usage(forever));
  await store.close();
  return { rows, summed, keys: keys.map(({ name }) => name), slots: slots.map(({ id }) => id) };
}

async function countRows(ledger: Awaited<ReturnType<typeof openStore>>['ledger']): Promise<number> {
  let count = 0;
  for (let cursor: string | undefined; ;) {
    const page = await ledger.requests({}, { limit: 500, ...(cursor !== undefined && { cursor }) });
    count += page.rows.length;
    if (page.cursor === undefined) return count;
    cursor = page.cursor;
  }
}

/** A gateway in a process of its own. */
class Served {
  readonly url: string;
  readonly panel: PanelClient;
  readonly #process: GatewayProcess;

  constructor(process: GatewayProcess, url: string) {
    this.#process = process;
    this.url = url;
    this.panel = new PanelClient(url, { 'x-api-key': masterKey });
  }

  async issueKey(name: string): Promise<string> {
    return (await this.panel.ask('POST', '/keys', { name })).key as string;
  }

  /** Requests in the ledger. */
  async requests(): Promise<number> {
    const { data } = await this.panel.get('/usage');
    return (data as { requests: number }[]).reduce((sum, { requests }) => sum + requests, 0);
  }

  async end(): Promise<void> {
    this.#process.signal('SIGTERM');
    expect((await this.#process.ended).code).to.equal(0);
  }
}

/** Callers that ask without a pause. */
class Load {
  readonly #faults: unknown[] = [];
  readonly #url: string;
  readonly #key: string;
  #callers: readonly Promise<void>[] = [];
  #count = 0;
  #isOver = false;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  async more(count: number): Promise<void> {
    if (this.#callers.length === 0) this.#callers = [1, 2, 3].map(() => this.#call());
    const goal = this.#count + count;
    await eventually(() => this.#count >= goal, 60_000);
  }

  async end(): Promise<readonly unknown[]> {
    this.#isOver = true;
    await Promise.all(this.#callers);
    return this.#faults;
  }

  async once(): Promise<number> {
    const headers = { 'content-type': 'application/json', 'x-api-key': this.#key };
    const response = await fetch(`${this.#url}/v1/messages`, {
      method: 'POST',
      headers,
      body: JSON.stringify(ask('Hi')),
    });
    await response.text();
    return response.status;
  }

  async #call(): Promise<void> {
    while (!this.#isOver) {
      const status = await this.once();
      if (status !== 200) this.#faults.push(status);
      this.#count += 1;
    }
  }
}
