import { once } from 'node:events';
import { request as openRequest, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { ask, masterKey, stages } from '../../harness.js';
import { PluginWorkshop } from './plugin-workshop.js';

describe('a Koa middleware as a stage', () => {
  const shop = new PluginWorkshop();
  afterEach(() => shop.end());

  describe('@koa/cors by its name', () => {
    const cors = { use: '@koa/cors', with: { exposeHeaders: 'x-gw-slot', maxAge: 600 } };
    const origin = 'https://app.example';

    function preflight(path: string): Promise<Response> {
      return fetch(shop.under.url + path, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'content-type,x-api-key',
        },
      });
    }

    for (const path of ['/messages', '/chat/completions', '/responses', '/completions', '/models', '/usage'])
      it(`answers the preflight of ${path}, with /v1 and without, without a key`, async () => {
        await shop.start([cors, ...stages()]);
        for (const asked of [`/v1${path}`, path]) {
          const answer = await preflight(asked);
          expect(answer.status, asked).to.equal(204);
          const { headers } = answer;
          expect(headers.get('access-control-allow-origin')).to.equal('*');
          expect(headers.get('access-control-allow-methods')).to.include('POST');
          expect(headers.get('access-control-allow-headers')).to.equal('content-type,x-api-key');
          expect(headers.get('access-control-max-age')).to.equal('600');
          expect(await answer.text()).to.equal('');
        }
      });

    it('lets a page read answers, streams and errors', async () => {
      await shop.start([cors, ...stages()]);
      const whole = await shop.answered(ask('Hi'), { origin });
      const stream = await shop.answered(ask('Hi', { stream: true }), { origin });
      const refused = await shop.under.post('/v1/messages', ask('Hi'), { origin, 'x-api-key': 'wrong' });
      const unknown = await shop.under.get('/v1/nothing', { origin });
      expect([whole, stream, refused, unknown].map(({ status }) => status)).to.deep.equal([
        200, 200, 401, 404,
      ]);
      for (const { headers } of [whole, stream, refused, unknown]) {
        expect(headers.get('access-control-allow-origin')).to.equal('*');
        expect(headers.get('access-control-expose-headers')).to.equal('x-gw-slot');
      }
      expect(await stream.text()).to.include('event: message_stop');
    });

    it('leaves OPTIONS that is no preflight to the gateway', async () => {
      await shop.start([cors, ...stages()]);
      const answer = await fetch(`${shop.under.url}/v1/messages`, { method: 'OPTIONS' });
      expect([answer.status, answer.headers.get('allow')]).to.deep.equal([204, 'POST, OPTIONS']);
    });

    it('refuses options that cannot be set up, at its place', async () => {
      const failed = await shop
        .start([{ use: '@koa/corse' }, ...stages()])
        .catch((error: Error) => error.message);
      expect(failed).to.match(
        /gateway\.yaml:1:\d+ pipeline\[0\]\.use "@koa\/corse" is neither a built-in nor/,
      );
    });
  });

  describe('koa-compress by its name', () => {
    const compress = { use: 'koa-compress', with: { threshold: 0 } };

    /** fetch would ask for compression, and hide it. */
    async function raw(body: object, encoding: string): Promise<IncomingMessage> {
      const sent = openRequest(`${shop.under.url}/v1/messages`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-api-key': masterKey,
          'accept-encoding': encoding,
        },
      });
      sent.end(JSON.stringify(body));
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      return response;
    }

    it('compresses whole answers', async () => {
      await shop.start([compress, ...stages()]);
      const asked = raw(ask('Hi'), 'gzip');
      (await shop.upstream.next()).finish();
      const response = await asked;
      expect(response.headers['content-encoding']).to.equal('gzip');
      response.resume();
      const read = await shop.answered();
      expect(read.headers.get('content-encoding')).to.be.a('string');
      expect(((await read.json()) as { content: unknown }).content).to.deep.equal([
        { type: 'text', text: 'Hello.' },
      ]);
      const plain = await shop.under.get('/v1/models', { 'accept-encoding': 'identity' });
      expect(plain.headers.get('content-encoding')).to.equal(null);
      expect(((await plain.json()) as { object: string }).object).to.equal('list');
    });

    it('does not hold streams back: each event is there while the answer is still open', async () => {
      await shop.start([compress, ...stages()]);
      const response = await raw(ask('Hi', { stream: true }), 'gzip, deflate, br');
      expect(response.headers['content-encoding']).to.equal(undefined);
      const answer = await shop.upstream.next();
      let text = '';
      const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>; // without an encoding they are buffers
      const until = async (part: string): Promise<void> => {
        while (!text.includes(part)) text += String((await chunks.next()).value);
      };
      await until('Hello.');
      for (const word of ['one', 'two', 'three']) {
        answer.say(word);
        await until(word);
      }
      expect(response.complete).to.equal(false);
      answer.finish();
      await until('message_stop');
    });
  });
});
