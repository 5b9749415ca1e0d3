import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { compileCheck, formatPath } from '../plugin/format/index.js';
import {
  isGatewayError,
  wrapCall,
  type GatewayState,
  type Host,
  type ModelCall,
  type Outcome,
  type Plugin,
} from '../plugin/index.js';
import { joining } from '../plugin/core.js';
import { keepLazyBodies } from '../engine/http/koa/lazy-bodies.js';
import { setPlainHeaders } from '../engine/http/koa/plain-headers.js';
import { stageParts } from '../engine/pipeline/stage/stage-parts.js';
import { strictParts } from '../engine/pipeline/stage/strict-stage.js';
import { toStage, type StageLike } from './definitions.js';
import { fakeHost } from './fake-host.js';
import { seedState } from './seed-state.js';
import { send, type Answer, type StageRequest } from './send.js';

export interface StageOptions {
  /**
   * As `with:` in the config; defaults are filled in, and options that the schema refuses throw a TypeError.
   */
  readonly options?: Readonly<Record<string, unknown>>;
  /** State provided by the core and the stages above; the core's part has defaults. */
  readonly state?: Partial<GatewayState>;
  readonly host?: Host;
  /** Answers the calls of a stage that intercepts; its reply is then `state.reply`, before `below`. */
  readonly call?: ModelCall;
  /** Replaces the stages below. */
  readonly below?: (ctx: Koa.Context) => void | Promise<void>;
}

/** Result of one request through a stage, once the response has closed. */
export interface ServedStage {
  readonly ctx: Koa.Context;
  /** State after the request; a key that no stage has provided is undefined, despite its type. */
  readonly state: GatewayState;
  /** True if the stages below were reached. */
  readonly nextCalled: boolean;
  readonly outcome: Outcome;
  /** Error thrown by the stage. */
  readonly error: unknown;
}

export type StageRun = ServedStage & Answer;

export interface StageServer {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  /** Result of the first request. */
  readonly served: Promise<ServedStage>;
  close(): Promise<void>;
}

/**
 * Runs one request through one stage, over a real socket and a real Koa context. A GatewayError becomes the gateway's
 * answer; any other error of the stage is thrown here.
 */
export async function runStage(
  plugin: StageLike,
  options: StageOptions & StageRequest = {},
): Promise<StageRun> {
  const server = await serveStage(plugin, options);
  try {
    const answer = await send(server.origin, options);
    const served = await server.served;
    if (served.error && !isGatewayError(served.error)) throw served.error;
    return { ...served, ...answer };
  } finally {
    await server.close();
  }
}

/** Serves one stage until closed, for a test with its own connection: one that disconnects, or reads slowly. */
export async function serveStage(given: StageLike, options: StageOptions = {}): Promise<StageServer> {
  const plugin = toStage(given);
  const host = options.host ?? fakeHost();
  const made = await plugin.setup(checkOptions(plugin, options.options), host);
  const parts = stageParts(made, plugin);
  const { middleware, intercept, applies, start, dispose } = plugin.isPlain
    ? parts
    : strictParts(parts, plugin);
  const join =
    intercept &&
    joining({
      place: { stage: plugin.name, path: 'pipeline[0]', at: 'gateway.yaml:1:1' },
      intercept,
      applies,
    });
  await start?.();
  const app = new Koa();
  keepLazyBodies(app);
  setPlainHeaders(app);
  app.silent = true; // connection errors show in the outcome
  const served = new Promise<ServedStage>((resolve) => {
    let nextCalled = false;
    app.use(async (ctx, next) => {
      const { state, closed } = seedState(ctx, host, options.state);
      ctx.state = state;
      if (state.operation === 'generate') join?.(state);
      const error = await outcomeOf(ctx, next);
      void report(resolve, closed, { ctx, state, nextCalled, error });
    });
    if (middleware) app.use(middleware);
    app.use(async (ctx) => {
      nextCalled = true;
      const state = ctx.state as GatewayState; // Koa types it as anything
      if (options.call) state.reply = await wrapCall(ctx, options.call)(state.request);
      await options.below?.(ctx);
    });
  });
  return listen(app, served, () => dispose?.());
}

/** Error thrown by the stage, after it was turned into an answer. */
async function outcomeOf(ctx: Koa.Context, next: Koa.Next): Promise<unknown> {
  try {
    await next();
    if (ctx.status === 404 && ctx.body === undefined) ctx.status = 204;
    return undefined;
  } catch (error) {
    answerError(ctx, error);
    return error;
  }
}

/** Reports the result once the stage has ended and the response has closed. */
async function report(
  resolve: (served: ServedStage) => void,
  closed: Promise<Outcome>,
  served: Omit<ServedStage, 'outcome'>,
): Promise<void> {
  resolve({ ...served, outcome: await closed });
}

function checkOptions(plugin: Plugin, options: StageOptions['options']): unknown {
  const filled = structuredClone(options ?? {});
  const errors = compileCheck(plugin.options, { useDefaults: true })(filled);
  if (errors.length === 0) return filled;
  const lines = errors.map(({ path, message }) => `${formatPath(path, 'options')} ${message}`);
  throw new TypeError(`${plugin.name}: ${lines.join('; ')}`);
}

function answerError(ctx: Koa.Context, error: unknown): void {
  if (!isGatewayError(error)) {
    ctx.status = 500;
    return;
  }
  ctx.status = error.status;
  ctx.set({ ...error.headers });
  ctx.body = error.toJSON();
}

async function listen(app: Koa, served: Promise<ServedStage>, dispose: () => unknown): Promise<StageServer> {
  const handle = app.callback();
  const server = createServer((req, res) => void handle(req, res)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server that listens has one
  return {
    origin: `http://127.0.0.1:${port}`,
    served,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await dispose();
    },
  };
}
