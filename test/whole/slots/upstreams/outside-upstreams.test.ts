import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { ConfigError } from '#src/config/config.js';
import { ndjsonUpstream, tokenAccount } from '../../../plugins/upstreams/ndjson.js';
import { Kit, later } from '../../../engine/transport/upstream-kit.js';
import { ask, configOf, slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { TempFolders, writeIn } from '../../temp-folders.js';

const line = (json: object): string => `${JSON.stringify(json)}\n`;

describe('an upstream and an account from a folder of a team', () => {
  const folders = new TempFolders();
  const kit = new Kit();
  let gateway: GatewayUnderTest | undefined;
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await kit.close();
    await folders.remove();
  });

  /** A gateway with one slot of both, and further ones. */
  async function start(
    serve: (request: IncomingMessage, response: ServerResponse) => unknown,
    further: readonly object[] = [],
    settings: object = {},
  ): Promise<{ folder: string; under: GatewayUnderTest }> {
    const folder = await folders.make({ 'lines.mjs': ndjsonUpstream, 'token.mjs': tokenAccount });
    const slot = {
      id: 'lines',
      upstream: './lines.mjs',
      baseUrl: await kit.serve(serve),
      account: { kind: './token.mjs', token: 't-1' },
      ...settings,
    };
    await writeIn(folder, 'gateway.yaml', configOf({ slots: [slot, ...further] }));
    gateway = await startGateway(`${folder}/gateway.yaml`);
    return { folder, under: gateway };
  }

  const greet = (_: IncomingMessage, response: ServerResponse) =>
    response.end(line({ text: 'Hel' }) + line({ text: 'lo' }) + line({ done: true, tokens: 2 }));

  it('answer whole and streamed, with a signature of the account for each request', async () => {
    const signatures: unknown[] = [];
    const { under } = await start((request, response) => {
      signatures.push(request.headers['x-token']);
      return greet(request, response);
    });
    const whole = (await (await under.post('/v1/messages', ask('Hi'))).json()) as {
      content: unknown;
      usage: object;
    };
    expect(whole.content).to.deep.equal([{ type: 'text', text: 'Hello' }]);
    expect(whole.usage).to.include({ output_tokens: 2 });
    const streamed = await under.post('/v1/messages', { ...ask('Hi'), stream: true });
    expect(await streamed.text())
      .to.include('"Hel"')
      .and.include('message_stop');
    expect(signatures).to.deep.equal(['t-1 POST /api/chat', 't-1 POST /api/chat']);
  });

  it('are asked once more with a renewed credential after a 401', async () => {
    const { under } = await start((request, response) => {
      if (request.headers['x-token'] === 't-1-new POST /api/chat') return greet(request, response);
      return response.writeHead(401).end('{"error":"who?"}');
    });
    expect((await under.post('/v1/messages', ask('Hi'))).status).to.equal(200);
  });

  it('fail over to another slot, and pass their own error on where there is none', async () => {
    const refuse = (_: IncomingMessage, response: ServerResponse) =>
      response.writeHead(529, { 'retry-after': '3' }).end('{"error":"full"}');
    const { under } = await start(refuse, [{ id: 'other', upstream: 'simulator', weight: 0.001 }]);
    const served = await under.post('/v1/messages', ask('Hi'));
    expect([served.status, served.headers.get('x-gw-slot')]).to.deep.equal([200, 'other']);
    await under.close();
    const alone = await start((_, response) => response.writeHead(400).end('{"error":"not so"}'));
    const answer = await alone.under.post('/v1/messages', ask('Hi'));
    expect(answer.status).to.equal(400);
    expect(await answer.text()).to.include('not so');
  });

  it('learn of a caller that has left', async () => {
    const closed = later();
    const { under } = await start((_, response) => {
      response.once('close', () => closed.resolve());
      response.write(line({ text: 'Hel' }));
    });
    const controller = new AbortController();
    const response = await fetch(`${under.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'test-master-key', 'content-type': 'application/json' },
      body: JSON.stringify({ ...ask('Hi'), stream: true }),
      signal: controller.signal,
    });
    await response.body!.getReader().read();
    controller.abort();
    await closed.promise;
  });

  it('are paused while nobody reads', async () => {
    const blocked = later();
    const { under } = await start(async (_, response) => {
      response.setMaxListeners(0);
      while (!response.destroyed) {
        if (response.write(line({ text: 'x'.repeat(50_000) }))) continue;
        const wait = setTimeout(() => blocked.resolve(), 500);
        await Promise.race([once(response, 'drain'), once(response, 'close')]);
        clearTimeout(wait);
      }
    });
    const response = await under.post('/v1/messages', { ...ask('Hi'), stream: true });
    await blocked.promise;
    await response.body!.cancel();
  });

  it('are taken anew by a reload, once their file has changed', async () => {
    const { folder, under } = await start(greet);
    const ours = async () => text((await under.post('/v1/messages', ask('Hi'))).body!);
    expect(await ours()).to.include('"Hello"');
    await writeIn(folder, 'lines.mjs', ndjsonUpstream.replace("default: ''", "default: 'Oh, '"));
    await under.gateway.reload();
    expect(await ours()).to.include('"Oh, Hello"');
  });

  it('say what is wrong with their options, by line and column', async () => {
    const refusal = await start(greet, [slotAt('http://127.0.0.1:9')], {
      with: { greting: 'x' },
      account: { kind: './token.mjs', token: 'k-1' },
    }).catch((error: unknown) => error);
    expect(refusal).to.be.an('error');
    const { message } = refusal as Error;
    expect(message).to.match(
      /:\d+:\d+ slots\[0\]\.with\.greting: is not a known key; did you mean "greeting"\?/,
    );
    expect(message).to.match(/:\d+:\d+ slots\[0\]\.account\.token: must begin with t-/);
  });

  const faulty = [
    ['upstream', 'open() { throw new Error("no such region"); }', 'cannot be opened: no such region'],
    ['upstream', 'open: () => ({})', 'cannot be opened: its open returned no object with generate'],
    ['account', 'open() { throw new Error("no such team"); }', 'cannot be opened: no such team'],
    ['account', 'open: () => undefined', 'cannot be opened: its open returned no object with authorize'],
    ['account', 'check() { throw new Error("oh"); }, open: () => ({})', 'cannot be checked by "faulty": oh'],
  ] as const;
  for (const [part, code, message] of faulty)
    it(`are problems of the config, at the start and at a reload: ${part} ${code}`, async () => {
      const { folder, under } = await start(greet);
      await writeIn(folder, 'faulty.mjs', `export default { name: 'faulty', ${code} };`);
      const fault =
        part === 'upstream' ? { upstream: './faulty.mjs' } : { account: { kind: './faulty.mjs' } };
      const slots = [{ ...slotAt('http://127.0.0.1:9'), ...fault }];
      await writeIn(folder, 'gateway.yaml', configOf({ slots }));
      const refusals = [under.gateway.reload(), startGateway(`${folder}/gateway.yaml`)];
      for (const refusal of await Promise.allSettled(refusals)) {
        const { reason } = refusal as PromiseRejectedResult;
        expect(reason).to.be.instanceOf(ConfigError);
        expect((reason as Error).message)
          .to.match(/:\d+:\d+ slots\[0\]\./)
          .and.include(message);
      }
      expect((await under.post('/v1/messages', ask('Hi'))).status).to.equal(200);
    });
});
