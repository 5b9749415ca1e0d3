import type Koa from 'koa';
import {
  isGatewayError,
  withFields,
  type CallOptions,
  type Intercept,
  type MessagesRequest,
  type ModelCall,
  type ModelReply,
  type StagePlace,
} from '../plugin/internal.js';
import { EventTally } from './event-tally.js';
import type { ExplainedError } from './explanation.js';
import { copyOf } from './json-diff.js';
import { TallyPair, type InterceptionRecord, type StageRecord } from './recording.js';
import { madeRequest, noChanges, requestChanges } from './request-changes.js';
import { shownText } from './shown.js';
import { StateKeys } from './state-changes.js';

type Context = Parameters<Koa.Middleware>[0];

/** State as this file reads and writes it. */
interface WatchedState extends Record<string, unknown> {
  request?: MessagesRequest;
  reply?: ModelReply;
}

/** Watches one request: what each stage changes, on the way down and on the way up. */
export class RequestWatch {
  readonly records: StageRecord[] = [];
  readonly #keys = new StateKeys();
  /** Copy of the Messages request as the last stage has left it. */
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

  /** Adds to a record what has changed since the stage began, or since those below it have ended. */
  #compare(record: StageRecord, state: WatchedState): void {
    record.state.push(...this.#keys.changes(state));
    const { request, reply } = state;
    if (request !== undefined) record.change(this.#changed(request, record.conceals));
    if (reply && reply !== this.#tapped?.reply) this.#tap(record, reply, state);
  }

  #changed(request: MessagesRequest, conceals: boolean) {
    if (this.#request === undefined) {
      this.#request = copyOf(request);
      return madeRequest(request);
    }
    const changes = requestChanges(this.#request, request, conceals);
    if (changes !== noChanges) this.#request = copyOf(request);
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

  /** Takes what the stages below have changed as known. */
  #adopt(state: WatchedState): void {
    this.#keys.adopt(state);
  }
}

interface Given {
  readonly request: MessagesRequest;
  readonly call: ModelCall;
}

/** Run of an interceptor: its calls and its reply. */
class WatchedInterception {
  /** Errors of its calls. */
  readonly errors = new Set<unknown>();
  readonly #given: Given;
  readonly #run: InterceptionRecord;
  readonly #own: OwnTime;
  readonly #conceals: boolean;
  readonly #request: unknown;
  #last: { readonly reply: ModelReply; readonly tally: EventTally } | undefined;

  constructor(given: Given, run: InterceptionRecord, own: OwnTime, conceals: boolean) {
    this.#given = given;
    this.#run = run;
    this.#own = own;
    this.#conceals = conceals;
    this.#request = copyOf(given.request);
  }

  readonly call: ModelCall = async (request, options) => {
    this.#own.stop();
    const call: InterceptionRecord['calls'][number] = {
      request: requestChanges(this.#request, request, this.#conceals),
    };
    this.#run.calls.push(call);
    try {
      const reply = await this.#given.call(request, this.#watched(options));
      const tally = new EventTally();
      const tapped = withFields(reply, { events: reply.events.through(tally) });
      this.#last = { reply: tapped, tally };
      return tapped;
    } catch (error) {
      this.errors.add(error);
      call.error = errorOf(error);
      throw error;
    } finally {
      this.#own.start();
    }
  };

  /** The reply, with a tally where it is not that of the last call. */
  replied(reply: ModelReply): ModelReply {
    if (!this.#last || reply.events === this.#last.reply.events) return reply;
    const tally = new EventTally();
    this.#run.events.push(new TallyPair(this.#last.tally, tally));
    return withFields(reply, { events: reply.events.through(tally) });
  }

  /** Options whose transforms have a tally before and after them. */
  #watched(options: CallOptions | undefined): CallOptions | undefined {
    const own = [options?.through ?? []].flat();
    if (own.length === 0) return options;
    const pair = new TallyPair();
    this.#run.events.push(pair);
    return { ...options, through: [pair.startBefore, ...own, pair.startAfter] };
  }
}

/** Own time of a stage. */
class OwnTime {
  readonly #record: StageRecord;
  #sinceMs: number | undefined;

  constructor(record: StageRecord) {
    this.#record = record;
  }

  start(): void {
    this.#sinceMs ??= performance.now();
  }

  stop(): void {
    if (this.#sinceMs !== undefined) this.#record.ms += performance.now() - this.#sinceMs;
    this.#sinceMs = undefined;
  }
}

function fail(record: StageRecord, error: unknown): void {
  record.result = 'failed';
  record.error = errorOf(error);
}

/** Error in the words that a report has for it. */
export function errorOf(error: unknown): ExplainedError {
  if (isGatewayError(error)) return { code: error.code, message: shownText(error.message) };
  return { code: 'internal', message: shownText(error instanceof Error ? error.message : String(error)) };
}
