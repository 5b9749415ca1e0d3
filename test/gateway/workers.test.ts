import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { openStore } from '#src/state/store/index.js';
import { createLogger } from '#src/gateway/telemetry/logs.js';
import type { Store } from '#src/state/store/contract/store.js';
import { eventually } from '../eventually.js';
import { startHeldUpstream, type HeldUpstream } from './held-upstream.js';
import {
  workshop,
  endProcesses,
  env,
  type Settings,
  configOf,
  slotAt,
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

  it('share the work on one port, and are started by one process that does none', async () => {
    const { gateway, url } = await startWith();
    const pids = await pidsOf(gateway, url);
    expect(pids).not.to.include(gateway.pid);
    const started = gateway.logged.filter(({ msg }) => msg === 'The gateway is listening.');
    expect(started).to.have.length(1);
    expect(started[0]).to.include({ workers: 2, pid: gateway.pid });
  });

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
    const noPort = await workshop.run({ cwd, env: { ...env, PORT: String(port) } });
    taken.close();
    expect(noPort).to.deep.equal({
      code: 2,
      signal: null,
      stdout: '',
      stderr: `Cannot listen on 127.0.0.1:${port}: another process listens there; stop it or set another port (PORT=8788).\n`,
    });

    await writeFile(
      path.join(cwd, file),
      configOf().replace('"slots"', '"store":"sqlite:config/gateway.yaml/x.db","slots"'),
    );
    const noStore = await workshop.run({ cwd, env });
    expect([noStore.code, noStore.stdout]).to.deep.equal([1, '']);
    expect(noStore.stderr).to.match(/^config\/gateway\.yaml:1:\d+ store: [^\n]*cannot be opened[^\n]*\n$/);
  });

  it('start on a new file while another program writes to it, the first one alone', async () => {
    const cwd = await workshop.folder({ [file]: configOf(), 'data/.keep': '' });
    const other = new Database(path.join(cwd, 'data/gateway.db'));
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
    expect(gateway.logged.filter(({ msg }) => msg.startsWith('A worker has died'))).to.deep.equal([]);
  });

  it('are given up where they die time and again before they serve', async () => {
    const deadly = 'export default () => { process.exit(7); };';
    const cwd = await workshop.folder({
      [file]: configOf({ pipeline: [{ use: '../deadly.mjs' }] }),
      'deadly.mjs': deadly,
    });
    const { code, stderr } = await workshop.run({ cwd, env });
    expect(code).to.equal(1);
    expect(stderr).to.equal('Workers have died 5 times in a row before they could serve; giving up.\n');
  });

  it('are summed up by the metrics of each, also when one of them has gone', async () => {
    const { gateway, url } = await startWith();
    const [first] = await pidsOf(gateway, url);
    for (let count = 0; count < 6; count += 1) await answered(url);
    const read = async () => (await send(`${url}/metrics`)).text();
    const counted = async () => {
      const lines = (await read()).match(/^gw2api_requests_total\{operation="generate".*$/gm) ?? [];
      return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    };
    const before = await counted();
    expect(before).to.be.at.least(8);
    const text = await read();
    expect(text.match(/^process_resident_memory_bytes\{worker="\d"\}/gm)).to.have.length(2);
    expect(text.match(/^gw2api_slot_state\{slot="a",state="ready"\} 1$/gm)).to.have.length(1);
    process.kill(first!, 'SIGKILL');
    await gateway.log('A replacement worker is serving.');
    expect(await counted()).to.equal(before);
    await answered(url);
    expect(await counted()).to.equal(before + 1);
  });
});

describe('what a worker has counted', function () {
  endProcesses(this);

  it('is in the metrics after its death, though nobody had read them before', async () => {
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
});

describe('a worker that is killed', function () {
  endProcesses(this);
  let upstream: HeldUpstream;
  beforeEach(async () => {
    upstream = await startHeldUpstream();
  });
  afterEach(() => upstream.close());

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
    const died = await gateway.log('A worker has died; a replacement starts.');
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

describe('signals to a primary', function () {
  endProcesses(this);
  let upstream: HeldUpstream;
  beforeEach(async () => {
    upstream = await startHeldUpstream();
  });
  afterEach(() => upstream.close());

  /** A stream in each worker, begun. */
  async function startStreaming(settings: Settings = {}) {
    const started = await startWith({ slots: [slotAt(upstream.url)], ...settings });
    const streams = [];
    for (let count = 0; count < 2; count += 1) {
      const stream = await send(`${started.url}/v1/messages`, { body: ask('Hi', { stream: true }) });
      streams.push({ stream, answer: await upstream.next() });
    }
    return { ...started, streams };
  }

  it('SIGTERM lets every worker finish, and ends in exit code 0', async () => {
    const { gateway, streams } = await startStreaming();
    gateway.signal('SIGTERM');
    await gateway.log('Waiting for requests to finish.');
    for (const { answer } of streams) answer.finish();
    for (const { stream } of streams) expect(await stream.text()).to.include('message_stop');
    const { code, stdout, stderr } = await gateway.ended;
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout.match(/Waiting for requests to finish/g)).to.have.length(2);
    expect(stdout).not.to.include('has died');
  });

  it('SIGTERM ends what takes too long with an error event', async () => {
    const { gateway, streams } = await startStreaming({ listen: { shutdownTimeout: '50ms' } });
    gateway.signal('SIGTERM');
    for (const { stream } of streams) expect(await stream.text()).to.include('was shut down before');
    expect(await gateway.ended).to.include({ code: 0, stderr: '' });
  });

  it('SIGTERM that reaches the workers too, as from a service manager, is the same', async () => {
    const { gateway, url, streams } = await startStreaming();
    const other = await send(`${url}/health`, { headers: {} });
    await other.text();
    const pids = gateway.logged.flatMap(({ worker, pid }) => (worker === undefined ? [] : [Number(pid)]));
    for (const pid of new Set(pids)) process.kill(pid, 'SIGTERM');
    gateway.signal('SIGTERM');
    await gateway.log('Waiting for requests to finish.');
    for (const { answer } of streams) answer.finish();
    for (const { stream } of streams) expect(await stream.text()).to.include('message_stop');
    expect(await gateway.ended).to.include({ code: 0, stderr: '' });
  });

  it('the second one ends all of them at once', async () => {
    const { gateway, streams } = await startStreaming({ listen: { shutdownTimeout: '1h' } });
    const broken = streams.map(({ stream }) => stream.text().catch(() => 'broken off'));
    gateway.signal('SIGINT');
    await gateway.log('Waiting for requests to finish.');
    gateway.signal('SIGTERM');
    expect(await gateway.ended).to.include({ code: 1, signal: null });
    expect(await Promise.all(broken)).to.deep.equal(['broken off', 'broken off']);
  });

  it('kill -9 leaves no process: what is under way ends, and the port is free meanwhile', async () => {
    const { gateway, url, streams } = await startStreaming({ listen: { shutdownTimeout: '1m' } });
    gateway.signal('SIGKILL');
    await gateway.line(({ msg }) => msg.startsWith('The primary process has exited'));
    const next = await workshop.start({ env: { ...env, PORT: new URL(url).port } });
    expect(await next.url()).to.equal(url);
    for (const { answer } of streams) answer.finish();
    for (const { stream } of streams) expect(await stream.text()).to.include('message_stop');
    const { signal } = await gateway.ended; // every process that has its output open has ended
    expect(signal).to.equal('SIGKILL');
  });
});

describe('a reload of several workers', function () {
  endProcesses(this);

  /** The slots that answer on some connections in a row. */
  async function slotsOf(url: string): Promise<readonly unknown[]> {
    const answers = [];
    for (let count = 0; count < 6; count += 1) answers.push(await answered(url));
    return [...new Set(answers.map(({ response }) => response.headers['x-gw-slot']))];
  }

  for (const way of ['SIGHUP', 'POST /admin/reload'] as const)
    it(`by ${way} is taken by all of them, or by none`, async () => {
      const { gateway, url, cwd } = await startWith();
      expect(await slotsOf(url)).to.deep.equal(['a']);
      await writeFile(path.join(cwd, file), configOf({ slots: [{ id: 'b', upstream: 'simulator' }] }));
      if (way === 'SIGHUP') {
        gateway.signal('SIGHUP');
        await gateway.line(({ msg, worker }) => msg === 'The config was reloaded.' && worker === 1);
        await gateway.line(({ msg, worker }) => msg === 'The config was reloaded.' && worker === 2);
      } else {
        const done = await send(`${url}/admin/reload`, { method: 'POST' });
        const answer = JSON.parse(await done.text()) as Readonly<Record<string, unknown>>;
        expect(answer).to.deep.include({ status: 'reloaded', needs_restart: [] });
        expect(answer).to.have.deep.nested.property('changes.slots[1]', {
          name: 'a',
          change: 'removed',
          settings: [],
        });
      }
      expect(await slotsOf(url)).to.deep.equal(['b']);

      await writeFile(path.join(cwd, file), configOf().replace('"auth"', '"autth"'));
      if (way === 'SIGHUP') {
        gateway.signal('SIGHUP');
        const { problems } = await gateway.log('The new config was refused; the old one stays in force.');
        expect(String(problems)).to.include('did you mean "auth"?');
      } else {
        const done = await send(`${url}/admin/reload`, { method: 'POST' });
        expect(done.response.statusCode).to.equal(400);
        expect(await done.text()).to.include('did you mean \\"auth\\"?');
      }
      expect(await slotsOf(url)).to.deep.equal(['b']);
    });
});

describe('what holds over all workers', function () {
  endProcesses(this);
  let upstream: HeldUpstream;
  beforeEach(async () => {
    upstream = await startHeldUpstream();
  });
  afterEach(() => upstream.close());

  it('a slot with one place is in one request at a time, whichever worker has it', async () => {
    const { gateway, url } = await startWith({ slots: [slotAt(upstream.url, { maxConcurrent: 1 })] });
    const asked = Array.from({ length: 8 }, () => answered(url));
    let isTaken = false;
    for (let count = 0; count < asked.length; count += 1) {
      const answer = await upstream.next();
      expect(isTaken).to.equal(false);
      isTaken = true;
      await (await send(`${url}/health`)).text();
      isTaken = false;
      answer.finish();
    }
    const answers = await Promise.all(asked);
    expect(answers.map(({ response }) => response.statusCode)).to.deep.equal(asked.map(() => 200));
    const pids = new Set(await Promise.all(answers.map((answer) => pidOf(gateway, answer))));
    expect(pids.size, 'workers that took part').to.equal(2);
  });
});
