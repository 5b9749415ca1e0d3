import type { MessagesRequest, ModelCall, ModelReply } from '../../../plugin/index.js';
import type {
  GatewayPort,
  EnterParams,
  InterceptParams,
  WireReply,
  WireReplyChange,
  WireStateChange,
} from '../wire/protocol.js';
import type { Streams } from '../wire/streams.js';
import { contextOf, requestNumbers, type ChildContext } from './child-context.js';
import { ChildEvents } from './child-events.js';
import type { ChildParts } from './child-parts.js';
import { replyFields, requestChange, requestOf } from './request-wire.js';

interface Given extends Pick<EnterParams, 'instance' | 'ctx' | 'state'> {
  readonly id: number;
  readonly keys: { readonly readable: readonly string[]; readonly settable: readonly string[] };
}

/** One request of the gateway, from its first stage here to the end of its response. */
export class ChildRequest {
  readonly #given: Given;
  readonly #port: GatewayPort;
  readonly #events: ChildEvents;
  readonly #ctx: ChildContext;
  /** The request as the gateway knows it. */
  #base: MessagesRequest | undefined;

  constructor(given: Given, port: GatewayPort, streams: Streams) {
    this.#given = given;
    this.#port = port;
    this.#events = new ChildEvents(streams);
    const { ctx, state, keys, id, instance } = given;
    const values: Record<string, unknown> = { ...state.values };
    if (state.request) values['request'] = this.#base = requestOf(state.request);
    if (state.reply) values['reply'] = this.#replyOf(state.reply);
    const note = (method: string, params: unknown): void => port.note(method, [instance, params]);
    this.#ctx = contextOf({
      ctx,
      values,
      keys,
      note: (method, params) => note(method, [id, params]),
      warn: (fields, message) => note('log', ['warn', fields, message]),
    });
    requestNumbers.set(this.#ctx.ctx, id);
  }

  /** Runs the middleware; the changes that it makes after `next`. */
  async enter({ middleware }: ChildParts): Promise<WireStateChange> {
    const { id } = this.#given;
    let hasPassed = false;
    const next = async (): Promise<void> => {
      if (hasPassed) throw new Error('next() called multiple times');
      hasPassed = true;
      await this.#port.call('next', [id, this.#changes()]);
    };
    if (middleware) await middleware(this.#ctx.ctx, next);
    else await next();
    return this.#changes();
  }

  /** Runs an interceptor. */
  async intercept(
    { run, part, given }: InterceptParams,
    parts: ChildParts,
  ): Promise<{ readonly reply: WireReplyChange; readonly change: WireStateChange }> {
    const request = given ? requestOf(given) : this.#base;
    const intercept = parts[part];
    if (!request || !intercept) throw new Error('The stage has no such interceptor.');
    const call: ModelCall = async (asked, options = {}) => {
      if (options.through !== undefined) throw new Error(noThrough);
      return this.#call(run, request, asked, options.budget);
    };
    const { ctx } = this.#ctx;
    const isOwn = part !== 'intercept' || (parts.applies?.(ctx) ?? true);
    const reply = isOwn ? await intercept(request, call, ctx) : await call(request);
    return { reply: this.#replyChange(reply), change: this.#changes() };
  }

  async settle(outcome: string): Promise<void> {
    await this.#ctx.settle(outcome);
  }

  async #call(
    run: number,
    given: MessagesRequest,
    asked: MessagesRequest,
    budget: unknown,
  ): Promise<ModelReply> {
    const budgets = (budget === undefined ? [] : [budget].flat()) as { left: number }[]; // as the contract has them
    const left = budgets.length > 0 ? Math.min(...budgets.map((each) => each.left)) : null;
    const { id } = this.#given;
    const change = asked === given ? null : requestChange(given, asked);
    const answer = (await this.#port.call('model', [id, run, change, left])) as ModelAnswer; // of the gateway
    for (const each of budgets) each.left -= answer.used;
    return this.#replyOf(answer.reply);
  }

  #replyOf({ fields, stream }: WireReply): ModelReply {
    const reply = { ...fields, events: this.#events.received(stream), [replyOrigin]: stream };
    return reply as unknown as ModelReply; // the gateway sends the fields of a reply
  }

  #replyChange(reply: ModelReply): WireReplyChange {
    const given = reply as ModelReply & { readonly [replyOrigin]?: number };
    const of = given[replyOrigin];
    return {
      ...(of !== undefined && { of }),
      fields: replyFields(reply),
      events: this.#events.sent(reply.events),
    };
  }

  /** Changes of the stage since the last time. */
  #changes(): WireStateChange {
    const { changed, headers, listens } = this.#ctx.take();
    const { request, reply, ...values } = changed as Changed;
    const before = this.#base;
    if (request) this.#base = request;
    return {
      values,
      ...(request && request !== before && { request: requestChange(before, request) }),
      ...(reply && { reply: this.#replyChange(reply) }),
      headers,
      listens,
    };
  }
}

interface Changed extends Readonly<Record<string, unknown>> {
  readonly request?: MessagesRequest;
  readonly reply?: ModelReply;
}

interface ModelAnswer {
  readonly reply: WireReply;
  /** Calls that its budget has lost. */
  readonly used: number;
}

/** Number of the stream of the reply that a reply is a copy of. */
const replyOrigin = Symbol('reply');

const noThrough =
  'call(request, { through }) is not available to an isolated stage: use hold(reply) of this package, or change the events of the reply';
