import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { Socket, type AddressInfo } from 'node:net';
import { Transform } from 'node:stream';
import { expect } from 'chai';
import Koa from 'koa';
import { directBodyOf, keepLazyBodies } from '#src/engine/http/koa/lazy-bodies.js';
import { EventStream } from '#src/plugin/index.js';
import { sendTo, SseBody, StreamController } from '#src/plugin/raw/index.js';

describe('a lazy body', () => {
  const servers: { close(): void }[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  /** The answer of an app whose innermost stage sets the body; `above`: the stage around it. */
  async function answerOf(body: unknown, above: Koa.Middleware): Promise<Response> {
    const app = new Koa();
    keepLazyBodies(app);
    app.use(async (ctx, next) => {
      await next();
      const direct = directBodyOf(ctx.response);
      if (!direct) return;
      ctx.respond = false;
      direct[sendTo](ctx.res);
    });
    app.use(above);
    app.use((ctx) => {
      ctx.type = 'text/event-stream';
      ctx.body = body;
    });
    const handle = app.callback();
    const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }

  it('writes itself where no stage reads it', async () => {
    const { body } = lazy('a', 'b');
    const answer = await answerOf(body, (_, next) => next());
    expect([answer.status, await answer.text()]).to.deep.equal([200, 'ab']);
  });

  it('keeps a status that was set before it', async () => {
    const { body } = lazy('a');
    const answer = await answerOf(body, (ctx, next) => {
      ctx.status = 202;
      return next();
    });
    expect(answer.status).to.equal(202);
  });

  it('is the same stream to each stage that reads it', async () => {
    const { body } = lazy('a', 'b');
    const read: unknown[] = [];
    const answer = await answerOf(body, async (ctx, next) => {
      await next();
      read.push(ctx.body, ctx.body, ctx.response.body);
    });
    expect(await answer.text()).to.equal('ab');
    expect(new Set(read).size).to.equal(1);
    expect(read[0]).to.have.property('pipe');
  });

  it('is what a stage makes of its stream', async () => {
    const { body } = lazy('a', 'b');
    const answer = await answerOf(body, async (ctx, next) => {
      await next();
      ctx.body = (ctx.body as NodeJS.ReadableStream).pipe(upperCase());
    });
    expect(await answer.text()).to.equal('AB');
  });

  it('is cancelled where a stage replaces it', async () => {
    const { body, cancelled } = lazy('a');
    const answer = await answerOf(body, async (ctx, next) => {
      await next();
      ctx.body = 'another';
    });
    expect(await answer.text()).to.equal('another');
    await cancelled;
  });

  it('is cancelled where a stage answers without a body', async () => {
    const { body, cancelled } = lazy('a');
    const answer = await answerOf(body, async (ctx, next) => {
      await next();
      ctx.status = 204;
    });
    expect(answer.status).to.equal(204);
    await cancelled;
  });
});

describe('a body of JSON', () => {
  /** Response of an app, as Koa alone sets it up or as `keepLazyBodies` does. */
  function responseOf(isKept: boolean): Koa.Response {
    const app = new Koa();
    if (isKept) keepLazyBodies(app);
    const request = new IncomingMessage(new Socket());
    return app.createContext(request, new ServerResponse(request)).response;
  }

  const steps: Readonly<Record<string, (response: Koa.Response) => void>> = {
    'after nothing': () => {},
    'after a status': (response) => (response.status = 202),
    'after a length': (response) => (response.length = 3),
    'after a type of JSON': (response) => (response.type = 'application/problem+json'),
    'after another type': (response) => (response.type = 'text/plain'),
    'after a text': (response) => (response.body = 'text'),
  };
  for (const [name, step] of Object.entries(steps))
    for (const body of [{ a: 1 }, [1]])
      it(`is as Koa sets it ${name}: ${JSON.stringify(body)}`, () => {
        const [kept, own] = [true, false].map((isKept) => {
          const response = responseOf(isKept);
          step(response);
          response.body = body;
          return { ...response.toJSON(), body: response.body, length: response.length };
        });
        expect(kept).to.deep.equal(own);
      });
});

/** Body of these pieces of text, which ends once all are taken. */
function lazy(...pieces: string[]) {
  let cancel: () => void;
  const cancelled = new Promise<void>((resolve) => (cancel = resolve));
  const resume = (): void => {
    for (const piece of pieces.splice(0)) text.write(piece);
    text.end();
  };
  const text = new StreamController<string>({ resume, cancel: () => cancel() });
  const options = { keepAlive: '', keepAliveMs: 60_000, onFailure: () => undefined };
  return { body: new SseBody(new EventStream(text), options), cancelled };
}

function upperCase(): Transform {
  return new Transform({
    writableObjectMode: true,
    transform: (piece, _, done) => done(null, String(piece).toUpperCase()),
  });
}
