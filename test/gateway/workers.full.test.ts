import { stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { eventually } from '../eventually.js';
import { startHeldUpstream, type HeldUpstream } from './held-upstream.js';
import {
  endProcesses,
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

describe('a reload of several workers', function () {
  endProcesses(this);

  /** The slots that answer on some connections in a row. */
  async function slotsOf(url: string): Promise<readonly unknown[]> {
    const answers = [];
    for (let count = 0; count < 6; count += 1) answers.push(await answered(url));
    return [...new Set(answers.map(({ response }) => response.headers['x-gw-slot']))];
  }

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

  it('a conversation stays with its slot, and a cool-down is seen by all', async () => {
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
