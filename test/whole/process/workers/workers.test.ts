import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import type { GatewayProcess } from '../../gateway-process.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import {
  workshop,
  configOf,
  slotAt,
  slotsOf,
  startStreams,
  file,
  startWith,
  send,
  answered,
  pidOf,
  pidsOf,
} from './workers.js';

/** All of them use one pool, in this order: each pool is three processes. */
describe('several workers', function () {
  this.timeout(60_000);
  let upstream: HeldUpstream;
  let gateway: GatewayProcess;
  let url: string;
  let cwd: string;
  /** Slots of a config whose first one has this name: it answers, one has a single place, and one holds streams. */
  const slotsWith = (first: string): readonly object[] => [
    { id: first, upstream: 'simulator', models: ['sonnet-5'] },
    slotAt(upstream.url, { id: 'narrow', maxConcurrent: 1, models: ['haiku-5'] }),
    slotAt(upstream.url, { id: 'held', models: ['sonnet-5-5'] }),
  ];
  before(async () => {
    upstream = await startHeldUpstream();
    ({ gateway, url, cwd } = await startWith({ slots: slotsWith('a') }));
  });
  after(async () => {
    await workshop.end();
    await upstream.close();
  });

  it('share the work on one port, and are started by one process that does none', async () => {
    const pids = await pidsOf(gateway, url);
    expect(pids).not.to.include(gateway.pid);
    const started = gateway.logged.filter(({ msg }) => msg === 'The gateway is listening.');
    expect(started).to.have.length(1);
    expect(started[0]).to.include({ workers: 2, pid: gateway.pid });
  });

  it('have a slot with one place in one request at a time, whichever of them has it', async () => {
    const asked = Array.from({ length: 8 }, () => answered(url, 'Hi', {}, { model: 'haiku-5' }));
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

  it('are summed up by the metrics of each, also when one of them has gone', async () => {
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

  for (const [way, before, after] of [
    ['SIGHUP', 'a', 'b'],
    ['POST /admin/reload', 'b', 'c'],
  ] as const)
    it(`take a reload by ${way} all, or none of them`, async () => {
      expect(await slotsOf(url)).to.deep.equal([before]);
      await writeFile(path.join(cwd, file), configOf({ slots: slotsWith(after) }));
      if (way === 'SIGHUP') {
        gateway.signal('SIGHUP');
        await gateway.line(({ msg, worker }) => msg === 'The config was reloaded.' && worker === 1);
        await gateway.line(({ msg, worker }) => msg === 'The config was reloaded.' && worker === 2);
      } else {
        const done = await send(`${url}/admin/reload`, { method: 'POST' });
        const answer = JSON.parse(await done.text()) as {
          readonly changes: { readonly slots: readonly object[] };
        };
        expect(answer).to.deep.include({ status: 'reloaded', needs_restart: [] });
        expect(answer.changes.slots).to.deep.include({ name: before, change: 'removed', settings: [] });
      }
      expect(await slotsOf(url)).to.deep.equal([after]);

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
      expect(await slotsOf(url)).to.deep.equal([after]);
    });

  it('finish what they have begun on SIGTERM, and end in exit code 0', async () => {
    const streams = await startStreams(upstream, url, { model: 'sonnet-5-5' });
    const before = gateway.logged.length;
    const told = () => gateway.logged.slice(before).map(({ msg }) => msg);
    const waiting = () => told().filter((msg) => msg.includes('Waiting for requests to finish'));
    gateway.signal('SIGTERM');
    await gateway.line(() => waiting().length === 2, 'that both workers wait');
    for (const { answer } of streams) answer.finish();
    for (const { stream } of streams) expect(await stream.text()).to.include('message_stop');
    const { code, stderr } = await gateway.ended;
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(waiting()).to.have.length(2);
    expect(told().filter((msg) => msg.includes('A worker died'))).to.deep.equal([]);
  });
});
