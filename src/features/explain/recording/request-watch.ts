import type Koa from 'koa';
import {
  withFields,
  type Intercept,
  type MessagesRequest,
  type ModelCall,
  type ModelReply,
  type Caller,
} from '../../../plugin/index.js';
import { type StagePlace, coreKeys } from '../../../plugin/core.js';
import { EventTally } from './event-tally.js';
import { errorOf, OwnTime, WatchedInterception } from './watched-interception.js';
import { copyOf } from './json-diff.js';
import { TallyPair, type InterceptionRecord, type StageRecord } from './recording.js';
import { madeRequest, noChanges, requestChanges, requestJson } from './request-changes.js';
import type { StateChange } from '../explanation.js';
import { concealed, shown } from '../../dry-run/shown.js';

type Context = Parameters<Koa.Middleware>[0];

/** State as this file reads and writes it. */
interface WatchedState extends Record<string, unknown> {
  request?: MessagesRequest;
  reply?: ModelReply;
}

/** Watches one request: the changes of each stage, on the way down and on the way up. */
export class RequestWatch {
  readonly records: StageRecord[] = [];
  readonly #keys = new StateKeys();
  /** Copy of the Messages request after the last stage. */
  #request: unknown;
  /** Reply with a tally on it, and that tally. */
  #tapped: { readonly reply: ModelReply; readonly tally: EventTally } | undefined;

  constructor(state: object) {
    this.#keys.adopt(state as WatchedState);
  }

  /** Record of a stage that the request has entered. */
  recordOf({ path }: StagePlace): StageRecord | undefined {
    return this.records.findLast(({ place }) => place.path === path);
  }

  /** Passes the request through a stage. */
  async pass(stage: { middleware: Koa.Middleware }, record: StageRecord, ctx: Context, next: Koa.Next) {
    const state = ctx.state as WatchedState; // Koa types its state as anything
    this.records.push(record);
    const own = new OwnTime(record);
    const below: { error?: unknown } = {};
    const goOn = async (): Promise<unknown> => {
      own.stop();
      if (record.result === 'answered') record.result = 'passed';
      this.#compare(record, state);
      try {
        return await next();
      } catch (error) {
        below.error = error;
        throw error;
      } finally {
        this.#adopt(state);
        own.start();
      }
    };
    try {
      own.start();
      await stage.middleware(ctx, goOn);
      if (below.error !== undefined) record.caught = errorOf(below.error);
    } catch (error) {
      if (error !== below.error) fail(record, error);
      throw error;
    } finally {
      own.stop();
      this.#compare(record, state);
    }
  }

  /** Runs a stage's interceptor. */
  async intercept(
    intercept: Intercept,
    record: StageRecord,
    given: { request: MessagesRequest; call: ModelCall; ctx: Parameters<Intercept>[2] },
  ): Promise<ModelReply> {
    const run: InterceptionRecord = { calls: [], events: [] };
    record.interceptions.push(run);
    const own = new OwnTime(record);
    const interception = new WatchedInterception(given, run, own, record.conceals);
    try {
      own.start();
      return interception.replied(await intercept(given.request, interception.call, given.ctx));
    } catch (error) {
      if (!interception.errors.has(error)) run.error = errorOf(error);
      throw error;
    } finally {
      own.stop();
    }
  }

  /** Adds to a record the changes since the stage began, or since those below it have ended. */
  #compare(record: StageRecord, state: WatchedState): void {
    record.state.push(...this.#keys.changes(state));
    const { request, reply } = state;
    if (request !== undefined) record.change(this.#changed(request, record.conceals));
    if (reply && reply !== this.#tapped?.reply) this.#tap(record, reply, state);
  }

  #changed(request: MessagesRequest, conceals: boolean) {
    const json = requestJson(request);
    if (this.#request === undefined) {
      this.#request = copyOf(json);
      return madeRequest(request);
    }
    const changes = requestChanges(this.#request, json, conceals);
    if (changes !== noChanges) this.#request = copyOf(json);
    return changes;
  }

  /** Counts the events of a reply that a stage has set, and compares them with those of the one before. */
  #tap(record: StageRecord, reply: ModelReply, state: WatchedState): void {
    const tally = new EventTally();
    if (this.#tapped) record.events.push(new TallyPair(this.#tapped.tally, tally));
    const tapped = withFields(reply, { events: reply.events.through(tally) });
    this.#tapped = { reply: tapped, tally };
    state.reply = tapped;
    this.#keys.adopt(state);
  }

  /** Accepts the changes of the stages below as known. */
  #adopt(state: WatchedState): void {
    this.#keys.adopt(state);
  }
}

function fail(record: StageRecord, error: unknown): void {
  record.result = 'failed';
  record.error = errorOf(error);
}

type State = Readonly<Record<string, unknown>>;

/** Keys that do not belong to stages, and the request, whose changes are shown separately. */
const ownKeys: ReadonlySet<string> = new Set(
  [...coreKeys, 'request', 'clientRequest'].filter((key) => key !== 'additions'),
);

/** Keys of a request's state, and their values, after one stage. */
class StateKeys {
  #known: ReadonlyMap<string, unknown> = new Map();

  /** Takes the state as known, without attributing its changes. */
  adopt(state: State): void {
    this.#known = valuesOf(state);
  }

  /** Changes since the last call of this or of `adopt`. */
  changes(state: State): readonly StateChange[] {
    const before = this.#known;
    const after = valuesOf(state);
    this.#known = after;
    const changes: StateChange[] = [];
    for (const [key, value] of after)
      if (!before.has(key)) changes.push({ key, change: 'set', ...valueOf(key, value) });
      else if (before.get(key) !== value) changes.push({ key, change: 'changed', ...valueOf(key, value) });
    for (const key of before.keys()) if (!after.has(key)) changes.push({ key, change: 'removed' });
    return changes;
  }
}

function valuesOf(state: State): ReadonlyMap<string, unknown> {
  const keys = Object.keys(state).filter((key) => !ownKeys.has(key) && state[key] !== undefined);
  return new Map(keys.map((key) => [key, state[key]]));
}

/** Views of the values of known keys; of others only numbers and booleans, as a text may be a secret. */
const views: Readonly<Record<string, (value: never) => unknown>> = {
  caller: ({ kind, keyId, name }: Caller) => ({ kind, keyId, name }),
  reply: ({ status, model, slot, attempts }: ModelReply) => ({ status, model, slot, attempts }),
  additions: ({ system, tools }: { system: readonly object[]; tools: readonly { name: string }[] }) => ({
    system: system.length,
    tools: tools.map(({ name }) => name),
  }),
  delivery: (delivery: string) => delivery,
  count: ({ inputTokens }: { inputTokens: number }) => inputTokens,
};

function valueOf(key: string, value: unknown): { readonly value?: unknown } {
  const view = Object.hasOwn(views, key) ? views[key] : undefined;
  if (view) return { value: shown(JSON.parse(JSON.stringify(view(value as never)))) }; // the core's own shapes
  if (typeof value === 'string') return { value: concealed(value) };
  return ['number', 'boolean'].includes(typeof value) ? { value } : {};
}
