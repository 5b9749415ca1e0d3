import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Router, type RouterMiddleware } from '@koa/router';
import { expect } from 'chai';
import Koa from 'koa';
import { RouteTable } from '#src/engine/http/route-table.js';

describe('a table of routes', () => {
  const servers: { close(): void }[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  const routes = [
    ['POST', '{/v1}/messages'],
    ['GET', '{/v1}/models'],
    ['GET', '{/v1}/models/:id'],
    ['GET', '/v1/twice'],
    ['GET', '/v1/twice'],
    ['GET', '/v1/:any'],
    ['DELETE', '/v1/messages'],
    ['GET', '/'],
  ] as const;

  const requests = [
    ['POST', '/v1/messages'],
    ['POST', '/messages'],
    ['POST', '/v1/messages?beta=true'],
    ['POST', '/v1/messages/'],
    ['POST', '/V1/Messages'],
    ['DELETE', '/v1/messages'],
    ['PUT', '/v1/messages'],
    ['GET', '/v1/models'],
    ['GET', '/models'],
    ['HEAD', '/models'],
    ['GET', '/models/a%20b'],
    ['GET', '/v1/twice'],
    ['GET', '/'],
    ['GET', '/nothing'],
  ] as const;

  /** What a middleware has found on the contexts of all requests, each asked twice. */
  async function seenBy(
    use: (method: 'GET' | 'POST' | 'DELETE', path: string, answer: RouterMiddleware<object, object>) => void,
    middleware: Koa.Middleware,
  ): Promise<readonly unknown[]> {
    for (const [at, [method, path]] of routes.entries())
      use(method, path, (ctx) => void (ctx.body = JSON.stringify(viewOf(ctx, at))));
    const app = new Koa().use(middleware).use((ctx) => {
      ctx.body = JSON.stringify(viewOf(ctx, 'none'));
    });
    const handle = app.callback();
    const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const seen: unknown[] = [];
    for (const [method, path] of [...requests, ...requests]) {
      const answer = await fetch(`${origin}${path}`, { method });
      seen.push([method, path, answer.status, await answer.text()]);
    }
    return seen;
  }

  it('answers, and sets what it found on the context, as the router alone does', async () => {
    const table = new RouteTable<object>();
    const seen = await seenBy(
      (method, path, answer) => table.add(method, path, answer),
      (ctx, next) => table.middleware(ctx, next),
    );
    const router = new Router<object, object>();
    const verbs = { GET: 'get', POST: 'post', DELETE: 'delete' } as const;
    const expected = await seenBy(
      (method, path, answer) => router[verbs[method]](path, answer),
      router.routes() as unknown as Koa.Middleware,
    );
    expect(seen).to.deep.equal(expected);
  });
});

function viewOf(context: object, answeredBy: unknown): object {
  const ctx = context as Record<string, unknown> & { readonly request: { readonly params?: unknown } };
  const { captures, params, routerPath, routerName, routeMatched, _matchedRoute, matched } = ctx;
  const paths = (matched as readonly { readonly path: string }[]).map(({ path }) => path);
  const found = { captures, params, routerPath, routerName, routeMatched, _matchedRoute };
  return { ...found, answeredBy, paths, ofRequest: ctx.request.params, hasRouter: Boolean(ctx['router']) };
}
