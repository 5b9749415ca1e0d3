import { createHash } from 'node:crypto';
import {
  allExtras,
  definePlugin,
  Duration,
  durationMs,
  headerChoice,
  Size,
  sizeBytes,
  Type,
  type Extras,
  type GatewayState,
  type MessagesRequest,
  type StageContext,
  type Tool,
} from '@gw2api/gateway/plugin';
import { bodyWithInputs } from '@gw2api/gateway/plugin/raw';
import { AnswerCache } from './shared/answer-cache.js';

/** Answers a repeated request with its cached answer, without a call. */
export default definePlugin({
  name: 'response-cache',
  api: 1,
  requires: ['request', 'caller'],
  intercepts: true,
  options: Type.Object({
    /** Lifetime of an answer. */
    ttl: Duration({ default: '10m' }),
    maxSize: Size({ default: '64mb', description: 'Memory for all answers, in each process.' }),
    /** Max size of an answer. */
    maxEach: Size({ default: '1mb' }),
    tools: Type.Boolean({
      default: false,
      description: "Also cache requests with the caller's tools, whose calls would be made again.",
    }),
    shared: Type.Boolean({ default: false, description: 'false: each key has answers of its own.' }),
  }),
  setup({ ttl, maxSize, maxEach, tools, shared }, host) {
    const bounds = { ttlMs: durationMs(ttl), maxBytes: sizeBytes(maxSize), maxEachBytes: sizeBytes(maxEach) };
    // A reload keeps the answers, unless it changes their bounds.
    const cache = host.keep(
      JSON.stringify(bounds),
      () => new AnswerCache({ ...bounds, now: () => host.now() }),
    );
    host.metrics.cache('response_cache_bytes', () => cache.stats);
    const counter = host.metrics.counter('gw2api_response_cache_total', 'Calls by cache result.', ['result']);
    const repeats = new WeakMap<object, Map<string, number>>();
    const arrived = new WeakMap<object, MessagesRequest>();
    return {
      middleware({ state, req }, next) {
        arrived.set(req, state.request);
        return next();
      },
      applies: (ctx) => cacheUse(ctx.headers) !== 'off' && (tools || !hasOwnTools(ctx.state)),
      async intercept(request, call, ctx) {
        // An answer may hold what stages below have taken out of the request, and put back.
        const versions = new Set([arrived.get(ctx.req) ?? request, request]);
        const hash = keyOf([...versions], shared ? '' : ctx.state.caller.keyId, ctx.headers);
        const key = `${hash} ${repeatOf(hash, repeats, ctx.req)}`;
        const hit = cacheUse(ctx.headers) === 'refresh' ? undefined : cache.get(key);
        const result = hit ? 'hit' : 'miss';
        counter.add({ result });
        ctx.set('x-gw-cache', result);
        if (hit) return hit;
        const reply = await call(request);
        return { ...reply, events: cache.keep(key, reply) };
      },
    };
  },
});

type Headers = StageContext<never, never>['headers'];

/** `refresh`: asks again and keeps the new answer. */
function cacheUse(headers: Headers): 'on' | 'off' | 'refresh' {
  const control = headers['cache-control'] ?? '';
  if (headerChoice(headers, 'x-gw-cache', ['true', 'false']) === 'false' || control.includes('no-store'))
    return 'off';
  return control.includes('no-cache') ? 'refresh' : 'on';
}

/** True for tools other than those that the gateway has added. */
function hasOwnTools({ request, additions }: Pick<GatewayState, 'request' | 'additions'>): boolean {
  const tools: unknown = request.tools ?? []; // nobody has checked it
  return !Array.isArray(tools) || tools.some((tool) => !additions.tools.includes(tool as Tool));
}

/** Hash of all inputs of an answer: the versions of its request, in any order of the fields. */
function keyOf(versions: readonly MessagesRequest[], keyId: string, headers: Headers): string {
  const options = Object.entries(headers).filter(([name]) => name.startsWith('anthropic-'));
  const hash = createHash('sha256').update(sortedJson([keyId, Object.fromEntries(options)]));
  for (const request of versions) for (const text of textsOf(request)) hash.update('\n').update(text);
  return hash.digest('base64');
}

/** Lines of JSON with all that an answer depends on in a request, its extras included. */
function textsOf(request: MessagesRequest): readonly string[] {
  const { stream: _, metadata: __, ...asked } = request;
  const extras = allExtras(request).map(({ place, extras: own }) => [place, answerFields(own)]);
  const exact = bodyWithInputs(asked); // a text where numbers of its tool inputs are kept
  return [sortedJson([asked, extras]), ...(typeof exact === 'string' ? [exact] : [])];
}

/** Extras without those that identify the caller, or how the provider caches: no answer depends on them. */
function answerFields(extras: Extras): Extras {
  return Object.fromEntries(Object.entries(extras).filter(([name]) => !aside.has(name)));
}

const aside: ReadonlySet<string> = new Set([
  'metadata',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
]);

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => sorted(part));
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Number of equal calls before this one in a request: those of `n` > 1 shall have different answers. */
function repeatOf(hash: string, repeats: WeakMap<object, Map<string, number>>, owner: object): number {
  const counts = repeats.get(owner) ?? new Map<string, number>();
  const count = counts.get(hash) ?? 0;
  repeats.set(owner, counts.set(hash, count + 1));
  return count;
}
