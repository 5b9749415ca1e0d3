import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { setPlainHeaders } from '#src/engine/http/koa/plain-headers.js';

describe('headers of an answer', () => {
  /** Headers and status that an app answers with. */
  async function answerOf(app: Koa, set: (ctx: Koa.Context) => unknown): Promise<readonly unknown[]> {
    app.silent = true;
    app.use(async (ctx) => {
      ctx.body = 'a';
      await set(ctx);
    });
    const handle = app.callback();
    const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      const headers = [...answer.headers].filter(([name]) => name !== 'date');
      return [answer.status, headers, await answer.text()];
    } finally {
      server.close();
    }
  }

  const cases: Readonly<Record<string, (ctx: Koa.Context) => unknown>> = {
    'a text': (ctx) => ctx.set('X-One', 'a'),
    'several texts': (ctx) => ctx.set({ 'x-one': 'a', 'content-type': 'text/csv' }),
    'a list': (ctx) => ctx.set('x-one', ['a', 'b']),
    'texts and a list': (ctx) => ctx.set({ 'x-one': 'a', 'x-two': ['a', 'b'] }),
    'a list of one for a header that has one value': (ctx) => ctx.set('content-type', ['text/csv']),
    'an empty text': (ctx) => ctx.set('x-one', ''),
    'an empty text among others': (ctx) => ctx.set({ 'x-one': '', 'x-two': 'a' }),
    'no name': (ctx) => ctx.set('', 'a'),
    nothing: (ctx) => ctx.set({}),
    'a value that no header can have': (ctx) => ctx.set('x-one', 'a\nb'),
    'a name that no header can have': (ctx) => ctx.set({ 'x one': 'a' }),
    'a number': (ctx) => ctx.set('x-one', 1 as unknown as string),
    'the second value of a name': (ctx) => {
      ctx.set('x-one', 'a');
      ctx.set('X-One', 'b');
    },
    'a text once the headers are sent': (ctx) => {
      ctx.res.flushHeaders();
      ctx.set('x-one', 'a');
      ctx.set({ 'x-two': 'a' });
    },
  };
  for (const [name, set] of Object.entries(cases))
    it(`are those that Koa sets, for ${name}`, async () => {
      const own = new Koa();
      setPlainHeaders(own);
      expect(await answerOf(own, set)).to.deep.equal(await answerOf(new Koa(), set));
    });
});
