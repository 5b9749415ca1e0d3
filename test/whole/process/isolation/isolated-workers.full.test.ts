import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../../../eventually.js';
import type { GatewayProcess } from '../../gateway-process.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import {
  answered,
  ask,
  endProcesses,
  env,
  file,
  send,
  slotAt,
  startStreams,
  uses,
  workshop,
} from '../workers/workers.js';
import { isolatedSuite, isRunning, stageModule, withStage } from './isolated.js';

/** Names its process in the head and in each text of an answer; exits at one text, and loops in some requests. */
const own = stageModule(
  `requires: ['request'], intercepts: true,`,
  `const say = (event) => {
    if (event.delta.text === 'exit') process.exit(1);
    return { ...event, delta: { ...event.delta, text: event.delta.text + ' by ' + process.pid } };
  };
  return {
    async middleware(ctx, next) {
      ctx.set('x-child', String(process.pid));
      if (ctx.headers['x-loop']) {
        host.log.info({ child: process.pid }, 'Looping.');
        setImmediate(() => { for (;;); });
      }
      await next();
    },
    async intercept(request, call) {
      const reply = await call(request);
      return { ...reply, events: sdk.mapEvents(reply.events, { content_block_delta: say }) };
    },
  };`,
);

isolatedSuite('isolated stages of a gateway in processes of its own', function () {
  endProcesses(this);
  let upstream: HeldUpstream;
  let gateway: GatewayProcess;
  let url = '';

  beforeEach(async () => {
    upstream = await startHeldUpstream();
  });
  afterEach(() => upstream.close());

  async function start(workers: number, isolate: object = {}): Promise<void> {
    const entry = { use: './own.mjs', isolate: { stall: '60s', ...isolate } };
    const pipeline = withStage(
      entry,
      uses.map((use) => ({ use })),
    );
    const listen = { workers, shutdownTimeout: '10s' };
    const config = JSON.stringify({ listen, pipeline, slots: [slotAt(upstream.url)] });
    const cwd = await workshop.folder({ [file]: config, 'config/own.mjs': own });
    gateway = await workshop.start({ cwd, env });
    url = await gateway.url();
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
