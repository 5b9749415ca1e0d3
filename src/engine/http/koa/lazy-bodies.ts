import type { Readable } from 'node:stream';
import type Koa from 'koa';
import { asStream, sendTo, type DirectBody, type LazyBody } from '../../../kit/direct-body.js';
import { isPlain } from '../connection/whole-answer.js';

/** Body of a response that no stage has read; the key is absent in all others. */
const lazyBody = Symbol('lazy body');

interface LazyResponse extends Koa.Response {
  [lazyBody]?: LazyBody | undefined;
  /** Koa's own: true once a status has been set. */
  readonly _explicitStatus?: boolean;
  /** Koa's own: what its getter of the body returns. */
  _body?: unknown;
}

/**
 * Makes an app keep a lazy body until a stage reads, replaces or measures it: then Koa gets its stream, which takes a
 * dozen calls to set up.
 */
export function keepLazyBodies({ response }: { readonly response: object }): void {
  const koa = Object.getPrototypeOf(response) as object; // Koa's own, which a response inherits from
  Object.defineProperty(response, 'body', {
    get(this: LazyResponse): unknown {
      if (this[lazyBody]) Reflect.set(koa, 'body', takeStream(this, this[lazyBody]), this);
      return Reflect.get(koa, 'body', this);
    },
    set(this: LazyResponse, body: unknown) {
      const before: unknown = this.body; // as a stream, which Koa destroys
      const isFirst = before === undefined || before === null;
      if (isFirst && isPlain(body)) keepJson(this, body);
      else if (isFirst && isLazy(body)) keepLazy(this, body);
      else Reflect.set(koa, 'body', isLazy(body) ? body[asStream]() : body, this);
    },
  });
}

/** Body of a response that writes itself; undefined for all others. */
export function directBodyOf(response: Koa.Response): DirectBody | undefined {
  const { [lazyBody]: lazy } = response as LazyResponse;
  if (lazy) return lazy;
  const body = response.body as Partial<DirectBody> | null | undefined; // may have any type
  return body?.[sendTo] ? (body as DirectBody) : undefined;
}

function keepLazy(response: LazyResponse, body: LazyBody): void {
  if (!response._explicitStatus) response.status = 200; // as Koa does at each body
  response[lazyBody] = body;
}

/** Does as Koa does, without its look at the classes of Node's own fetch, which loads it. */
function keepJson(response: LazyResponse, body: object): void {
  if (!response._explicitStatus) response.status = 200;
  response._body = body;
  response.remove('Content-Length');
  if (!/\bjson\b/i.test(response.type)) response.type = 'json';
}

function takeStream(response: LazyResponse, body: LazyBody): Readable {
  response[lazyBody] = undefined;
  return body[asStream]();
}

function isLazy(body: unknown): body is LazyBody {
  return typeof body === 'object' && body !== null && asStream in body;
}
