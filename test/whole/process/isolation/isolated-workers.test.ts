import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../../../eventually.js';
import type { GatewayProcess } from '../../gateway-process.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import { answered, ask, endProcesses, send, startStreams } from '../workers/workers.js';
import { startIsolated } from './isolated-gateway.js';
import { isolatedSuite, isRunning } from './isolated.js';

isolatedSuite('isolated stages of a gateway in processes of its own', function () {
  endProcesses(this);
  let upstream: HeldUpstream;
  let gateway: GatewayProcess;
  let url = '';

  beforeEach(async () => {
    upstream = await startHeldUpstream();
  });
  afterEach(() => upstream.close());

  async function start(workers: number): Promise<void> {
    ({ gateway, url } = await startIsolated(upstream.url, { workers }));
  }

  const childOf = ({ response }: { readonly response: { readonly headers: NodeJS.Dict<unknown> } }) =>
    Number(response.headers['x-child']);
  const ended = (pid: number) => eventually(() => !isRunning(pid));

  it('have a child in each worker, whose end leaves the streams of the other alone', async () => {
    await start(2);
    const [lost, kept] = await startStreams(upstream, url);
    const children = [lost!, kept!].map(({ stream }) => childOf(stream));
    expect(new Set(children).size).to.equal(2);

    lost!.answer.say('exit');
    const text = await lost!.stream.text();
    expect(text.match(/^event: error$/gm)).to.have.length(1);
    await ended(children[0]!);
    kept!.answer.say('more');
    kept!.answer.finish();
    expect(await kept!.stream.text())
      .to.contain(`more by ${children[1]}`)
      .and.contain('message_stop');

    await gateway.line(({ msg }) => /another one is started/.test(msg));
    const replaced = await startStreams(upstream, url);
    const now = replaced.map(({ stream }) => childOf(stream));
    expect(now).to.include(children[1]).and.not.include(children[0]);
    expect(new Set(now).size).to.equal(2);
    for (const { answer } of replaced) answer.finish();
  });

  it('serve their streams to the end after SIGTERM, and end with the gateway', async () => {
    await start(2);
    const streams = await startStreams(upstream, url);
    const children = streams.map(({ stream }) => childOf(stream));
    gateway.signal('SIGTERM');
    await gateway.log('Waiting for requests to finish.');
    for (const [at, { stream, answer }] of streams.entries()) {
      answer.say('late');
      answer.finish();
      expect(await stream.text())
        .to.contain(`late by ${children[at]}`)
        .and.contain('message_stop');
    }
    expect(await gateway.ended).to.include({ code: 0 });
    for (const child of children) await ended(child);
  });

  it('serve their streams to the end after a reload, and end then', async () => {
    await start(1);
    const streams = await startStreams(upstream, url);
    const [before = 0, ...others] = streams.map(({ stream }) => childOf(stream));
    expect(others).to.deep.equal([before]);
    const reload = await send(`${url}/admin/reload`, { method: 'POST' });
    expect(reload.response.statusCode).to.equal(200);

    const asked = answered(url);
    (await upstream.next()).finish();
    const after = childOf(await asked);
    expect(after).to.be.above(0).and.not.equal(before);
    for (const { stream, answer } of streams) {
      expect(isRunning(before)).to.equal(true);
      answer.say('late');
      answer.finish();
      expect(await stream.text())
        .to.contain(`late by ${before}`)
        .and.contain('message_stop');
    }
    await ended(before);
    expect(isRunning(after)).to.equal(true);
  });

  for (const [workers, which] of [
    [1, 'gateway'],
    [2, 'worker'],
  ] as const)
    it(`end with a ${which} that is killed while they loop`, async function () {
      if (!existsSync('/usr/bin/setpriv')) this.skip(); // the guide says so
      await start(workers);
      send(`${url}/v1/messages`, { body: ask('Hi'), headers: { 'x-loop': '1' } }).catch(() => undefined); // it is cut off
      const { child, pid = gateway.pid } = await gateway.log('Looping.');
      try {
        expect(isRunning(Number(child))).to.equal(true);
        process.kill(Number(pid), 'SIGKILL');
        await eventually(() => !isRunning(Number(child)), 2000);
      } finally {
        if (isRunning(Number(child))) process.kill(Number(child), 'SIGKILL');
      }
    });
});
