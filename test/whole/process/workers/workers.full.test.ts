import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { expect } from 'chai';
import { openDatabase } from '#src/state/store/sql/sqlite/driver.js';
import { openStore } from '#src/state/store/index.js';
import { createLogger } from '#src/gateway/telemetry/logs.js';
import type { Store } from '#src/state/store/contract/store.js';
import { eventually } from '../../../eventually.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import {
  workshop,
  endProcesses,
  env,
  configOf,
  slotAt,
  slotsOf,
  file,
  startWith,
  send,
  ask,
  answered,
  pidOf,
  pidsOf,
} from './workers.js';

describe('several workers', function () {
  endProcesses(this);

  it('have the keys that the first start makes, which is told once', async () => {
    const cwd = await workshop.folder({ [file]: configOf() });
    const gateway = await workshop.start({ cwd });
    const url = await gateway.url();
    await gateway.output('/v1/completions');
    const [, made = ''] = /^Master key: (\S+)$/m.exec(gateway.stdout) ?? [];
    expect(gateway.stdout.split('Master key: ')).to.have.length(2);
    const kept = await readFile(path.join(cwd, '.env'), 'utf8');
    expect(kept.match(/^\w+(?==)/gm)).to.have.members(['GW_SECRET_KEY', 'GW2API_API_KEY']);
    for (let tries = 0; tries < 4; tries += 1) {
      const { response } = await answered(url, 'Hi', { 'x-api-key': made });
      expect(response.statusCode).to.equal(200);
    }
  });

  it('are as many as there are cores where the config says auto', async () => {
    const { gateway, url } = await startWith({ listen: { workers: 'auto' } });
    expect((await answered(url)).response.statusCode).to.equal(200);
    gateway.signal('SIGTERM');
    expect(await gateway.ended).to.include({ code: 0 });
  });

  it('say once what keeps them from starting', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const cwd = await workshop.folder({ [file]: configOf() });
    const noPort = await workshop.spawn({ cwd, env: { ...env, PORT: String(port) } });
    taken.close();
    expect(noPort).to.deep.equal({
      code: 2,
      signal: null,
      stdout: '',
      stderr: `Cannot listen on 127.0.0.1:${port}: another process is listening there; stop it or set another port (PORT=8788).\n`,
    });

    await writeFile(
      path.join(cwd, file),
      configOf().replace('"slots"', '"store":"sqlite:config/gateway.yaml/x.db","slots"'),
    );
    const noStore = await workshop.spawn({ cwd, env });
    expect([noStore.code, noStore.stdout]).to.deep.equal([1, '']);
    expect(noStore.stderr).to.match(/^config\/gateway\.yaml:1:\d+ store: [^\n]*cannot be opened[^\n]*\n$/);
  });

  it('start on a new file while another program writes to it, the first one alone', async () => {
    const cwd = await workshop.folder({ [file]: configOf(), 'data/.keep': '' });
    const other = openDatabase(path.join(cwd, 'data/gateway.db'));
    other.exec('pragma journal_mode = wal; begin immediate; create table held (x);');
    const gateway = await workshop.start({ cwd, env });
    const waiting = await gateway.line(({ msg }) => msg.includes('is locked by another process'));
    expect(waiting['worker']).to.equal(1);
    setTimeout(() => other.exec('rollback'), 3000); // longer than any wait for a lock of a statement
    const url = await gateway.url();
    other.close();
    await pidsOf(gateway, url);
    const waited = gateway.logged.filter(({ msg }) => msg.includes('is locked by another process'));
    expect(waited).to.have.length(1);
    expect(gateway.logged.filter(({ msg }) => msg.startsWith('A worker died'))).to.deep.equal([]);
  });

  it('are given up where they die time and again before they serve', async () => {
    const deadly = 'export default () => { process.exit(7); };';
    const cwd = await workshop.folder({
      [file]: configOf({ pipeline: [{ use: '../deadly.mjs' }] }),
      'deadly.mjs': deadly,
    });
    const { code, stderr } = await workshop.spawn({ cwd, env });
    expect(code).to.equal(1);
    expect(stderr).to.equal('Workers have died 5 times in a row before they could serve; giving up.\n');
  });
});

describe('a reload of several workers', function () {
  endProcesses(this);

  it('is taken by none where one of them cannot', async () => {
    const { url, cwd } = await startWith();
    const once = `import { mkdirSync } from 'node:fs';
      export default () => { mkdirSync('only-one'); return (ctx, next) => next(); };`;
    await writeFile(path.join(cwd, 'once.mjs'), once);
    const slots = [{ id: 'b', upstream: 'simulator' }];
    await writeFile(path.join(cwd, file), configOf({ slots, pipeline: [{ use: '../once.mjs' }] }));
    const done = await send(`${url}/admin/reload`, { method: 'POST' });
    expect(done.response.statusCode).to.equal(400);
    expect(await done.text()).to.include('EEXIST');
    expect((await stat(path.join(cwd, 'only-one'))).isDirectory()).to.equal(true);
    expect(await slotsOf(url)).to.deep.equal(['a']);
  });

  it('is foretold by any of them from the file as it stands now', async () => {
    const { url, cwd } = await startWith();
    await writeFile(path.join(cwd, file), configOf({ slots: [{ id: 'b', upstream: 'simulator' }] }));
    for (let count = 0; count < 4; count += 1) {
      const told = JSON.parse(await (await send(`${url}/api/panel/reload`)).text()) as object;
      expect(told).to.have.deep.nested.property('changes.slots[0].name', 'b');
    }
    expect(await slotsOf(url)).to.deep.equal(['a']);
  });

  it('is what a worker that comes later has, and no edit that nobody has reloaded', async () => {
    const { gateway, url, cwd } = await startWith();
    const [first] = await pidsOf(gateway, url);
    await writeFile(path.join(cwd, file), configOf({ slots: [{ id: 'b', upstream: 'simulator' }] }));
    process.kill(first!, 'SIGKILL');
    await gateway.log('A replacement worker is serving.');
    expect(await slotsOf(url)).to.deep.equal(['a']);
    const done = await send(`${url}/admin/reload`, { method: 'POST' });
    expect(done.response.statusCode).to.equal(200);
    expect(await slotsOf(url)).to.deep.equal(['b']);
  });

  it('is refused with 503 where SIGTERM comes before it is taken', async () => {
    const { gateway, url, cwd } = await startWith();
    const hang = `export default () => {
      console.log(JSON.stringify({ msg: 'setting up' }));
      return new Promise(() => undefined);
    };`;
    await writeFile(path.join(cwd, 'hang.mjs'), hang);
    await writeFile(path.join(cwd, file), configOf({ pipeline: [{ use: '../hang.mjs' }] }));
    const reload = send(`${url}/admin/reload`, { method: 'POST' });
    await gateway.log('setting up');
    gateway.signal('SIGTERM');
    const answer = await reload;
    expect(answer.response.statusCode).to.equal(503);
    expect(JSON.parse(await answer.text())).to.have.nested.property('error.code', 'shutting_down');
    expect((await gateway.ended).code).to.equal(0);
  });

  it('says what takes a restart', async () => {
    const { url, cwd } = await startWith();
    await writeFile(path.join(cwd, file), configOf({ listen: { workers: 3 } }));
    const done = await send(`${url}/admin/reload`, { method: 'POST' });
    expect(JSON.parse(await done.text())).to.have.deep.property('needs_restart', ['listen']);
  });
});

describe('what holds over all workers', function () {
  endProcesses(this);
  let upstream: HeldUpstream;
  beforeEach(async () => {
    upstream = await startHeldUpstream();
  });
  afterEach(() => upstream.close());

  it('the times of a stage are those of its requests in all of them', async () => {
    const { gateway, url } = await startWith({ slots: [{ id: 'x', upstream: 'simulator' }] });
    const pids = new Set<number>();
    for (let count = 0; count < 8; count += 1) pids.add(await pidOf(gateway, await answered(url)));
    expect(pids.size, 'workers that took part').to.equal(2);
    await eventually(async () => {
      const { data } = JSON.parse(await (await send(`${url}/api/panel/pipeline`)).text()) as {
        readonly data: readonly { readonly name: string; readonly times: { readonly count: number } }[];
      };
      return data.find(({ name }) => name === 'upstream-call')?.times.count === 8;
    });
  });

  it('the place of a killed worker is free at once', async () => {
    const { gateway, url } = await startWith({
      slots: [
        { id: 'x', upstream: 'simulator', models: ['sonnet-5'] },
        slotAt(upstream.url, { maxConcurrent: 1, models: ['haiku-5'] }),
      ],
    });
    const pids = await pidsOf(gateway, url);
    const hold = () =>
      send(`${url}/v1/messages`, { body: { ...ask('Hi', { stream: true }), model: 'haiku-5' } });
    const first = await hold();
    await upstream.next();
    const broken = new Set<string>();
    first.text().catch(() => broken.add('first'));
    const back = () => gateway.logged.filter(({ msg }) => msg === 'A replacement worker is serving.').length;
    for (const [killed, pid] of pids.entries()) {
      if (broken.size > 0) break;
      process.kill(pid, 'SIGKILL');
      await eventually(() => back() === killed + 1, 20_000);
    }
    expect(broken.size).to.equal(1);
    const second = hold();
    const answer = await upstream.next();
    answer.finish();
    expect(await (await second).text()).to.include('message_stop');
  });

  it('a conversation stays with its slot, and a cooldown is seen by all', async () => {
    const slots = ['a', 'b'].map((id) => ({ id, upstream: 'simulator' }));
    const { gateway, url } = await startWith({ slots });
    const seen = new Map<number, Set<unknown>>();
    for (let count = 0; count < 10; count += 1) {
      const answer = await answered(url, 'Hi', { 'x-session-id': 'one' });
      const pid = await pidOf(gateway, answer);
      seen.set(pid, (seen.get(pid) ?? new Set()).add(answer.response.headers['x-gw-slot']));
    }
    expect(seen.size, 'workers that took part').to.equal(2);
    const [first, second] = [...seen.values()].map((slotsSeen) => [...slotsSeen]);
    expect(first).to.have.length(1);
    expect(second).to.deep.equal(first);

    await answered(url, '[[sim:429 retry-after=60]]');
    const states = async () => {
      const text = await (await send(`${url}/admin/slots`)).text();
      const { data } = JSON.parse(text) as { data: readonly object[] };
      return JSON.stringify(data).includes('rate_limited');
    };
    for (let count = 0; count < 6; count += 1) await eventually(states);
  });

  it('a slot that is paused by one is paused for all', async () => {
    const { url } = await startWith();
    const paused = await send(`${url}/admin/slots/a/pause`, { method: 'POST' });
    await paused.text();
    for (let count = 0; count < 6; count += 1)
      await eventually(async () => (await answered(url)).response.statusCode === 503);
  });
});

describe('a worker that is killed', function () {
  endProcesses(this);
  let upstream: HeldUpstream;
  beforeEach(async () => {
    upstream = await startHeldUpstream();
  });
  afterEach(() => upstream.close());

  it('leaves what it has counted in the metrics, though nobody had read them before', async () => {
    const { gateway, url } = await startWith();
    const pids: number[] = [];
    while (pids.length < 8 || new Set(pids).size < 2) pids.push(await pidOf(gateway, await answered(url)));
    const sinceMs = performance.now(); // a worker sends its totals once a second
    while (performance.now() - sinceMs < 3000) await (await send(`${url}/health`)).text();
    process.kill(pids[0]!, 'SIGKILL');
    await gateway.log('A replacement worker is serving.');
    const text = await (await send(`${url}/metrics`)).text();
    const lines = text.match(/^gw2api_requests_total\{operation="generate".*$/gm) ?? [];
    expect(lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)).to.equal(pids.length);
  });

  it('takes no other with it, is replaced, and leaves the rows of what it has answered', async () => {
    const { gateway, url, cwd } = await startWith({ slots: [slotAt(upstream.url)] });
    const ids: string[] = [];
    const pids = new Set<number>();
    while (pids.size < 2) {
      const answer = send(`${url}/v1/messages`, { body: ask('Hi') });
      (await upstream.next()).finish();
      await (await answer).text();
      ids.push((await answer).id);
      pids.add(await pidOf(gateway, await answer));
    }
    const database = path.join(cwd, 'data/gateway.db');
    const store = await openStore({ kind: 'sqlite', file: database }, { log: createLogger('silent') });
    await rowsIn(store, ids.length);

    const streams = [];
    for (let count = 0; count < 4; count += 1) {
      const stream = await send(`${url}/v1/messages`, { body: ask('Hi', { stream: true }) });
      streams.push({ stream, answer: await upstream.next() });
    }
    const [victim] = pids;
    process.kill(victim!, 'SIGKILL');
    const died = await gateway.log('A worker died; a replacement is starting.');
    expect(died).to.include({ pid: victim, signal: 'SIGKILL' });
    for (const { answer } of streams) {
      answer.say(' And goodbye.');
      answer.finish();
    }
    const texts = await Promise.all(streams.map(({ stream }) => stream.text().catch(() => 'broken off')));
    const whole = texts.filter((text) => text.includes('message_stop'));
    expect(whole.length + texts.filter((text) => text === 'broken off').length).to.equal(4);
    expect(whole.length).to.be.within(1, 3);

    const back = await gateway.log('A replacement worker is serving.');
    expect(back['worker']).to.equal(died['worker']);
    for (let by: unknown; by !== back['pid'];) {
      const answer = send(`${url}/v1/messages`, { body: ask('Hi') });
      (await upstream.next()).finish();
      await (await answer).text();
      ids.push((await answer).id);
      by = await pidOf(gateway, await answer);
    }
    await rowsIn(store, ids.length + whole.length);
    const { rows } = await store.ledger.requests({}, { limit: 100 });
    expect(rows.map(({ requestId }) => requestId)).to.include.members(ids);
    await store.close();
  });

  it('leaves no caller waiting whose connection was on its way to it', async () => {
    const { gateway, url } = await startWith();
    const [victim] = await pidsOf(gateway, url);
    process.kill(victim!, 'SIGSTOP');
    const answers = Array.from({ length: 8 }, () =>
      answered(url).then(
        () => 'answered',
        () => 'hung up',
      ),
    );
    expect(await Promise.race(answers), 'by the one that goes on').to.equal('answered');
    process.kill(victim!, 'SIGKILL');
    expect(new Set(await Promise.all(answers))).to.deep.equal(new Set(['answered', 'hung up']));
  });

  /** Waits until the ledger has so many rows. */
  function rowsIn(store: Store, count: number): Promise<void> {
    const isUp = async () => (await store.ledger.requests({}, { limit: 100 })).rows.length >= count;
    return eventually(isUp, 10_000);
  }
});
