import type Koa from 'koa';
import type { GatewayState, MessagesRequest, ModelCall, ModelReply, Outcome } from '../../plugin/index.js';
import { checkReply } from '../../plugin/core.js';
import { isRecord } from '../../kit/schema/record.js';
import { shapeFault } from '../trace/state-shapes.js';
import { wireRequest, withWireChange } from './live-request.js';
import { SentEvents } from './sent-events.js';
import { stageFailure } from './stage-failure.js';
import type { StageProcess } from './stage-process.js';
import { contextOf } from './wire-context.js';
import { wireReplyFields, type WireReply, type WireState } from './wire/protocol.js';

/** Stage of a conversation. */
export interface StageTerms {
  readonly name: string;
  readonly instance: number;
  /** Keys of the state that it gets, and keys that it may set. */
  readonly readable: readonly string[];
  readonly settable: readonly string[];
}

export type StageCtx = Koa.Context;

/** One request of the gateway with one child process, as both speak about it. */
export class Conversation {
  readonly id: number;
  readonly process: StageProcess;
  readonly ctx: StageCtx;
  readonly #terms: StageTerms;
  /** The request as the child has it. */
  #known: MessagesRequest | undefined;
  readonly #replies = new Map<number, ModelReply>();
  readonly #sent = new SentEvents();
  readonly #runs = new Map<number, { readonly given: MessagesRequest; readonly call: ModelCall }>();
  #lastRun = 0;
  #hasPassed = false;
  #next: (() => Promise<unknown>) | undefined;
  /** Errors that are not the stage's own. */
  readonly #foreign = new WeakSet();
  #isKnown = false;
  #listens = false;

  constructor(id: number, process: StageProcess, ctx: StageCtx, terms: StageTerms) {
    this.id = id;
    this.process = process;
    this.ctx = ctx;
    this.#terms = terms;
  }

  /** Passes the request through the middleware of the stage. */
  async enter(next: () => Promise<unknown>): Promise<void> {
    const { instance } = this.#terms;
    this.#next = next;
    const params = { instance, request: this.id, ctx: contextOf(this.ctx), state: this.#begin() };
    this.#take(await this.#asked('enter', params), false);
    if (!this.#hasPassed)
      throw this.#failure(new Error('it ended without calling next or throwing an answer'));
  }

  /** Passes a call of the model through an interceptor of the stage. */
  async intercept(
    part: 'intercept' | 'outermost',
    request: MessagesRequest,
    call: ModelCall,
  ): Promise<ModelReply> {
    const run = ++this.#lastRun;
    this.#runs.set(run, { given: request, call });
    const start = this.#isKnown ? {} : { ctx: contextOf(this.ctx), state: this.#begin() };
    const given = request === this.#known ? {} : { given: wireRequest(request) };
    const params = { instance: this.#terms.instance, request: this.id, run, part, ...start, ...given };
    try {
      const answer = await this.#asked('intercept', params);
      const { reply, change } = isRecord(answer) ? answer : {};
      return this.#checked(() => {
        this.#apply(change);
        return this.#replyOf(reply);
      });
    } finally {
      this.#runs.delete(run);
    }
  }

  /** Ends the conversation, once the response has closed. */
  async settle(outcome: Outcome): Promise<void> {
    for (const id of this.#replies.keys()) this.process.streams.cancel(id, outcome);
    if (!this.#isKnown || this.process.ended) return;
    const told = this.process.call('settled', [this.id, outcome]).catch(() => undefined); // it has ended meanwhile
    if (this.#listens) await told;
  }

  /** The child calls `next`: the rest of the pipeline. */
  async next(change: unknown): Promise<null> {
    const next = this.#next;
    this.#next = undefined;
    this.#take(change, true);
    this.#hasPassed = true;
    if (!next) throw new Error('next() called multiple times');
    await this.#noted(next());
    return null;
  }

  /** The child calls the model. */
  async model(run: unknown, change: unknown, left: unknown): Promise<{ reply: WireReply; used: number }> {
    const found = this.#runs.get(Number(run));
    if (!found) throw new Error('The call came after the reply.');
    const request = change === null ? found.given : this.#checked(() => withWireChange(found.given, change));
    const budget = typeof left === 'number' ? { left } : undefined;
    const reply = await this.#noted(found.call(request, budget && { budget }));
    return {
      reply: this.#wireReply(reply),
      used: budget && typeof left === 'number' ? left - budget.left : 0,
    };
  }

  async #asked(method: string, params: unknown): Promise<unknown> {
    try {
      return await this.process.call(method, params);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async #noted<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      if (typeof error === 'object' && error !== null) this.#foreign.add(error);
      throw error;
    }
  }

  #checked<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): unknown {
    if (typeof error === 'object' && error !== null && this.#foreign.has(error)) return error;
    return stageFailure(this.#terms.name, error);
  }

  /** State for a child that does not know the request yet. */
  #begin(): WireState {
    this.#isKnown = true;
    const state = this.ctx.state as Partial<GatewayState>; // Koa types its state as anything
    const { request, reply } = state;
    const all = state as Readonly<Record<string, unknown>>; // its keys are looked up by name
    const keys = new Set(this.#terms.readable);
    const names = [...keys].filter((key) => key !== 'request' && key !== 'reply' && all[key] !== undefined);
    const sent = keys.has('request') ? request : undefined;
    this.#known = sent;
    return {
      values: Object.fromEntries(names.map((key) => [key, all[key]])),
      ...(sent && { request: wireRequest(sent) }),
      ...(keys.has('reply') && reply && { reply: this.#wireReply(reply) }),
    };
  }

  #take(change: unknown, isComplete: boolean): void {
    this.#checked(() => {
      this.#apply(change);
      const state = this.ctx.state as Readonly<Record<string, unknown>>; // Koa types its state as anything
      const absent = isComplete ? this.#terms.settable.find((key) => state[key] === undefined) : undefined;
      if (absent !== undefined) throw new TypeError(`it provides "${absent}", but left none`);
    });
  }

  /** Applies changes of the child to the state and to the headers of the answer. */
  #apply(change: unknown): void {
    const { values, request, reply, headers, listens } = isRecord(change) ? change : {};
    if (!isRecord(values) || !isRecord(headers))
      throw new TypeError('it has sent changes of an unknown form');
    this.#listens ||= listens === true;
    for (const [key, value] of Object.entries(values)) this.#set(key, value);
    if (request !== undefined) {
      const changed = withWireChange(this.#known, request);
      this.#known = changed;
      this.#set('request', changed);
    }
    if (reply !== undefined) this.#set('reply', this.#replyOf(reply));
    for (const [name, text] of Object.entries(headers)) this.ctx.set(name, String(text));
  }

  #set(key: string, value: unknown): void {
    if (!this.#terms.settable.includes(key))
      throw new TypeError(`it has set "${key}", which it does not provide`);
    const fault = shapeFault(key, value);
    if (fault !== undefined) throw new TypeError(`it has left a ctx.state.${key} that ${fault}`);
    const state = this.ctx.state as Record<string, unknown>; // Koa types its state as anything
    if (state[key] !== value) state[key] = value;
  }

  #wireReply(reply: ModelReply): WireReply {
    const { encode, onSeen } = this.#sent;
    const stream = this.process.streams.send(reply.events, { encode, onSeen });
    this.#replies.set(stream, reply);
    const fields = wireReplyFields.flatMap((name) =>
      reply[name] === undefined ? [] : [[name, reply[name]]],
    );
    return { fields: Object.fromEntries(fields) as WireReply['fields'], stream };
  }

  #replyOf(change: unknown): ModelReply {
    const { of, fields, events } = isRecord(change) ? change : {};
    if (!isRecord(fields) || !isRecord(events)) throw new TypeError('it has sent a reply of an unknown form');
    const live = this.#replies.get(Number(of));
    const own = wireReplyFields.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]]));
    const reply = { ...live, ...(Object.fromEntries(own) as object), events: this.#eventsOf(events) };
    return checkReply(reply);
  }

  #eventsOf({ same, made }: Readonly<Record<string, unknown>>): ModelReply['events'] {
    const { streams } = this.process;
    if (made !== undefined)
      return streams.receive(Number(made), {
        ...this.#sent.decoder(),
        toError: (error) => this.#failure(error),
      });
    const live = this.#replies.get(Number(same));
    if (!live || !streams.keep(Number(same)))
      throw new TypeError('it has sent back events that it was not sent');
    this.#replies.delete(Number(same));
    return live.events;
  }
}
