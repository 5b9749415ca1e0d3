import {
  definePlugin,
  Duration,
  durationMs,
  isGatewayError,
  stickyKey,
  Type,
  type Host,
  type MessagesRequest,
  type ModelCall,
  type ModelReply,
  type StageContext,
} from '@gw2api/gateway/plugin';
import { callSignal } from '@gw2api/gateway/plugin/raw';
import { clamp } from './shared/clamp.js';
import { forOtherModel } from './shared/other-model.js';

const reasons = ['rate_limited', 'overloaded', 'unreachable', 'timeout', 'failed', 'context_length'] as const;

type Reason = (typeof reasons)[number];

/** Asks another model if all slots have failed for the requested one. */
export default definePlugin({
  name: 'fallback',
  api: 1,
  requires: ['request', 'caller', 'body'],
  intercepts: true,
  keepsPrefix: false,
  options: Type.Object({
    to: Type.Record(
      Type.String({ minLength: 1 }),
      Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
      {
        description:
          'By model: the models to try in its place, in this order. A model that the key may not use is 403.',
      },
    ),
    on: Type.Array(Type.Enum(reasons), {
      minItems: 1,
      default: ['rate_limited', 'overloaded', 'unreachable', 'timeout', 'failed'],
      description: 'Also: context_length. Never a content filter or another refusal of the request.',
    }),
    attempts: Type.Integer({
      minimum: 2,
      default: 4,
      description: 'Max upstream calls for one answer, over all models.',
    }),
    stick: Duration({
      default: '10m',
      description: 'How long a session stays on its fallback model.',
    }),
    stickyFrom: Type.Array(Type.String({ minLength: 1 }), {
      default: ['prompt_cache_key', 'metadata.user_id', 'session-id'],
      description: 'What names a session, as in slot-pick.',
    }),
  }),
  setup({ to, on, attempts, stick, stickyFrom }, host) {
    const chains = chainsOf(to, host);
    const terms = { on: new Set<Reason>(on), attempts };
    const ttlMs = durationMs(stick);
    const counter = host.metrics.counter(
      'gw2api_fallbacks_total',
      'Answers from a model other than the requested one.',
      ['from', 'to'],
    );
    return {
      async intercept(request, call, ctx) {
        const { model } = request;
        const chain = chains.get(model);
        if (!chain) return call(request);
        const { caller, body } = ctx.state;
        const key = stickyKey(caller.keyId, ctx.headers, { from: stickyFrom, body, request });
        const session = key && `fallback/${model}/${key}`; // known to all instances
        const stuck = session && host.live.shared.get(session);
        const models = chain.toSorted((one, other) => Number(other === stuck) - Number(one === stuck));
        const asking: Asking = {
          ...terms,
          call,
          failure: undefined,
          models: host.models,
          response: ctx.response,
          isOver: () => callSignal(ctx.state).aborted,
        };
        const reply = await firstToAnswer(models, request, asking);
        if (reply.model !== model) counter.add({ from: model, to: reply.model });
        if (session && (stuck ?? model) !== reply.model) host.live.shared.set(session, reply.model, ttlMs);
        return reply;
      },
    };
  },
});

/** Fallback chain of each model, itself first. */
function chainsOf(
  to: Readonly<Record<string, readonly string[]>>,
  { models }: Host,
): ReadonlyMap<string, readonly string[]> {
  const idOf = (name: string): string => models.find(name)?.id ?? name;
  const chains = Object.entries(to).map(([name, others]) => [idOf(name), others.map(idOf)] as const);
  for (const [model, others] of chains)
    if (new Set([model, ...others]).size <= others.length)
      throw new Error(`to.${model}: names a model twice; each is tried only once.`);
  return new Map(chains.map(([model, others]) => [model, [model, ...others]]));
}

interface Asking {
  readonly on: ReadonlySet<Reason>;
  /** Max upstream calls. */
  readonly attempts: number;
  readonly call: ModelCall;
  readonly models: Host['models'];
  readonly response: StageContext<never, never>['response'];
  /** Error of the previous model; undefined for the first one. */
  readonly failure: { readonly error: unknown } | undefined;
  /** True once the caller has disconnected. */
  readonly isOver: () => boolean;
}

/** Reply of the first model that answers; one call is kept for each of those that follow. */
async function firstToAnswer(
  [model, ...others]: readonly string[],
  request: MessagesRequest,
  asking: Asking,
): Promise<ModelReply> {
  const { call, on, attempts, isOver } = asking;
  const share = Math.max(1, attempts - others.length);
  const budget = { left: share };
  try {
    return await call(forModel(request, model ?? request.model, asking), { budget });
  } catch (thrown) {
    const isForbidden = model !== request.model && isGatewayError(thrown) && thrown.code === 'forbidden';
    // What the caller may not use is not an answer to what it has asked for.
    const { error } = (isForbidden && asking.failure) || { error: thrown };
    const reason = reasonOf(error);
    const left = attempts - (share - budget.left);
    const leadsOn = isForbidden || (reason && on.has(reason));
    if (!leadsOn || others.length === 0 || left < 1 || isOver()) throw error;
    return firstToAnswer(others, request, { ...asking, attempts: left, failure: { error } });
  }
}

/** Request for another model, within that model's limit. */
function forModel(request: MessagesRequest, model: string, { models, response }: Asking): MessagesRequest {
  if (model === request.model) return request;
  const { maxTokens } = models.profile(model);
  const asked = forOtherModel(request, model, response);
  return maxTokens === undefined ? asked : clamp(asked, maxTokens);
}

/** Reason of a failure; undefined for those that are about the request: a content filter, a wrong field. */
function reasonOf(error: unknown): Reason | undefined {
  if (!isGatewayError(error)) return undefined;
  const { failure, code, status, message } = error;
  if (failure?.kind === 'unreachable' || failure?.kind === 'timeout') return failure.kind;
  if (failure && failure.kind !== 'status') return 'failed';
  if (status === 429) return 'rate_limited';
  if (code === 'no_slot_available' || (failure && (status === 529 || status === 503))) return 'overloaded';
  if (failure && status >= 500) return 'failed';
  const isTooLong = status === 400 && tooLong.test(message.slice(0, 1000));
  return tooLongCodes.has(code) || isTooLong ? 'context_length' : undefined;
}

const tooLongCodes: ReadonlySet<string> = new Set(['request_too_large', 'context_length_exceeded']);
const tooLong = /prompt is too long|context[ _](?:length|window)|maximum context/i;
