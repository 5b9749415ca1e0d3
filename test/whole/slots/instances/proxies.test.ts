import { expect } from 'chai';
import { ask, masterKey, slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import { caddyExample, nginxExample, Proxy } from './proxy-process.js';
import { SocketClient } from '../../socket-client.js';
import { TempFolders } from '../../temp-folders.js';

for (const example of [caddyExample, nginxExample('nginx.conf')]) {
  const program = process.env[example.variable];
  describe(`config/deploy/${example.file}`, function () {
    this.timeout(60_000);
    const folders = new TempFolders();
    let upstream: HeldUpstream;
    let under: GatewayUnderTest;
    let proxy: Proxy;

    before(async function () {
      if (!program) return this.skip();
      upstream = await startHeldUpstream();
      const listen = { host: '127.0.0.1', port: 0, trustProxy: true };
      under = await startGateway({ listen, slots: [slotAt(upstream.url)] });
      proxy = await Proxy.start(program, example, {
        folder: await folders.make(),
        gateway: new URL(under.url).host,
      });
    });
    after(async () => {
      await proxy?.end();
      await under?.close();
      await upstream?.close();
      await folders.remove();
    });

    const post = (body: object, headers: Readonly<Record<string, string>> = {}) =>
      fetch(`${proxy.url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': masterKey, ...headers },
        body: JSON.stringify(body),
      });

    it('passes each event on as it comes', async () => {
      const answer = await post(ask('Hi', { stream: true }));
      const held = await upstream.next();
      const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
      await until(reader, 'Hello.');
      held.say('and more');
      await until(reader, 'and more');
      held.finish();
      await until(reader, 'message_stop');
    });

    it('passes a body of some megabytes on, and the caller’s end', async () => {
      const leaving = new AbortController();
      const body = JSON.stringify(ask('x'.repeat(3_000_000), { stream: true }));
      const answer = await fetch(`${proxy.url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': masterKey },
        body,
        signal: leaving.signal,
      });
      const held = await upstream.next();
      expect(answer.status).to.equal(200);
      expect(held.text.length).to.be.above(3_000_000);
      leaving.abort();
      expect(await held.closed).to.equal(false);
    });

    it('tells the gateway the address of the caller, and not what the caller says of it', async () => {
      const answer = await post({ model: 'sonnet-5' }, { 'x-forwarded-for': '203.0.113.9' });
      expect(answer.status).to.equal(400);
      await answer.text();
      await under.gateway.exchanges.idle();
      const line = under.logged.findLast(({ msg }) => msg === 'request');
      expect(line).to.include({ client: '127.0.0.1', status: 400 });
    });

    it('passes WebSockets on', async () => {
      const client = await SocketClient.open({ url: proxy.url });
      client.create({ input: 'Hi' });
      (await upstream.next()).finish();
      let type: unknown;
      for (let messages = 0; type !== 'response.completed' && messages < 50; messages += 1)
        ({ type } = await client.next());
      expect(type).to.equal('response.completed');
      client.socket.close();
      await client.closed;
    });

    it('keeps metrics and administration to itself', async () => {
      for (const inside of ['/metrics', '/admin/slots'])
        expect((await fetch(proxy.url + inside, { headers: { 'x-api-key': masterKey } })).status).to.equal(
          404,
        );
    });
  });
}

/** Reads on until a text has come. */
async function until(reader: ReadableStreamDefaultReader<string>, text: string): Promise<void> {
  for (let read = ''; !read.includes(text);) {
    const { done, value = '' } = await reader.read();
    if (done) throw new Error(`The stream ended before "${text}" came.`);
    read += value;
  }
}
