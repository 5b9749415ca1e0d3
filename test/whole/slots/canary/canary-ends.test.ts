import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { messageEvents } from '@gw2api/gateway/testing';
import type { CanaryReload } from '#src/features/canary/canary-reload.js';
import { canary } from '#src/features/canary/extension.js';
import { eventually } from '../../../eventually.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import { ask, configOf, slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { TempFolders, writeIn } from '../../temp-folders.js';

/** Marks the answers of its pipeline; that of the canary takes a while to be disposed. */
const mark = `import { setTimeout as delay } from 'node:timers/promises';
export default {
  name: 'mark',
  options: { type: 'object', properties: { tag: { type: 'string' } } },
  setup({ tag }, host) {
    host.onDispose(async () => {
      await delay(tag === 'new' ? 100 : 0);
      host.log.info({ tag }, 'disposed');
    });
    return async function mark(ctx, next) {
      ctx.set('x-mark', tag);
      await next();
    };
  },
};
`;

describe('the end of a canary', () => {
  const folders = new TempFolders();
  let upstream: HeldUpstream;
  let folder: string;
  let under: GatewayUnderTest;
  let reload: CanaryReload;

  beforeEach(async () => {
    upstream = await startHeldUpstream();
    folder = await folders.make({ 'mark.js': mark });
  });
  afterEach(async () => {
    await under?.close();
    await upstream.close();
    await folders.remove();
  });

  async function write(tag: string, url = upstream.url): Promise<void> {
    const pipeline = [{ use: './mark.js', with: { tag } }, ...stages()];
    await writeIn(folder, 'gateway.yaml', configOf({ slots: [slotAt(url)], pipeline }));
  }

  /** Starts a gateway with a canary of half of the sessions. */
  async function startCanary(url = upstream.url): Promise<void> {
    await write('old', url);
    under = await startGateway(`${folder}/gateway.yaml`);
    await write('new', url);
    reload = await under.gateway.use(canary);
    await reload.start(50);
  }

  const report = () => reload.report!;

  function counted(): number {
    const { candidate, control } = report();
    return candidate.requests + control.requests;
  }

  function isDisposed(tag: string): boolean {
    return under.logged.some((line) => line['msg'] === 'disposed' && line['tag'] === tag);
  }

  const post = (session: string, headers: Readonly<Record<string, string>> = {}) =>
    under.post('/v1/messages', ask('Hi', { stream: true }), { 'x-session-id': session, ...headers });

  async function answer(session: string): Promise<void> {
    const response = await post(session);
    (await upstream.next()).finish();
    await response.text();
  }

  it('is the one that came first of a commit and a cancel at once', async () => {
    const ends = { commit: 'committed', cancel: 'cancelled' } as const;
    await startCanary();
    for (const [first, second] of [
      ['commit', 'cancel'],
      ['cancel', 'commit'],
    ] as const) {
      if (report().state !== 'running') {
        await write('newer');
        await reload.start(50);
      }
      const [won, lost] = await Promise.allSettled([reload[first](), reload[second]()]);
      expect(won.status).to.equal('fulfilled');
      expect(lost).to.have.nested.property('reason.code', 'conflict');
      expect(report().state).to.equal(ends[first]);
    }
  });

  it('leaves the requests that it has not seen end out of the next one', async () => {
    await startCanary();
    const response = await post('slow');
    const held = await upstream.next();
    await write('newer');
    await reload.start(50);
    held.finish();
    await response.text();
    await answer('next');
    await eventually(() => counted() > 0);
    expect(counted()).to.equal(1);
  });

  it('waits for its stages at the end of the gateway', async () => {
    await startCanary();
    await under.close();
    expect(isDisposed('new')).to.equal(true);
  });

  it('is not waited for by requests without a key, nor told of in the log', async () => {
    await startCanary();
    for (const headers of [{ 'x-api-key': '' }, { authorization: 'Basic abc' }])
      expect((await post('session', headers)).status).to.equal(401);
    expect(under.logged.filter(({ level }) => level === 'warn')).to.deep.equal([]);
  });

  it('finds the time until the first content, not until the answer has begun', async () => {
    const server = createServer((_, response) => {
      const frames = messageEvents().map(
        (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
      );
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(frames[0]);
      setTimeout(() => response.end(frames.slice(1).join('')), 200); // at least
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await startCanary(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await (await post('slow')).text();
    await eventually(() => counted() === 1);
    const { candidate, control } = report();
    expect(candidate.first_token_ms.p50 ?? control.first_token_ms.p50).to.be.above(180);
    server.close();
  });

  it('counts as a reload where it is taken', async () => {
    await startCanary();
    const taken = async () =>
      /gw2api_config_reloads_total\{outcome="taken"\} (\d+)/.exec(await under.gateway.metrics.text())?.[1];
    expect(await taken()).to.equal('0');
    await reload.commit();
    expect(await taken()).to.equal('1');
  });
});
