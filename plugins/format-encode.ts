import {
  definePlugin,
  Duration,
  durationMs,
  EventStream,
  forCaller,
  formatContext,
  forOperator,
  GatewayError,
  isGatewayError,
  reportDropped,
  Size,
  sizeBytes,
  toGatewayError,
  usageBody,
  Type,
  type Count,
  type Format,
  type GatewayState,
  type Host,
  type ReplyEncoder,
  type ResponseQuota,
  type StageContext,
} from '@gw2api/gateway/plugin';
import { bodyWithInputs, SseBody } from '@gw2api/gateway/plugin/raw';
import { EarlyReplies } from './shared/early-replies.js';

/** Answers in the caller's dialect. */
export default definePlugin({
  name: 'format-encode',
  api: 1,
  requires: ['delivery', 'reply', 'body', 'caller'],
  provides: ['response'],
  seals: ['reply'],
  operations: ['generate', 'count-tokens'],
  options: Type.Object({
    keepAlive: Duration({
      default: '15s',
      description: 'How long a stream is silent before it sends a keep-alive.',
    }),
    earlyKeepAlive: Type.Optional(
      Duration({
        description:
          'After this time a stream sends its headers and a keep-alive before its first content, for proxies that give up on silence (a CDN after 100 s). The price is the status code: a later failure is an error event in a stream with status 200, and the headers name no slot. Default: never.',
      }),
    ),
    brokenStreams: Type.Union([Type.Literal('end'), Type.Literal('close')], {
      default: 'end',
      description:
        'What happens to a stream that fails after its start: end (it ends with an error event) | close (the connection is then cut, for clients that mistake a partial answer for a complete one).',
    }),
    countTokens: Type.Union([Type.Literal('windows'), Type.Literal('estimate'), Type.Literal('exact')], {
      default: 'windows',
      description:
        'What count_tokens answers if the upstream cannot count: windows (of OAuth accounts, an estimate for others) | estimate | exact (501, after which Claude Code counts with a small request).',
    }),
    storedResponses: Type.Object(
      {
        maxSize: Size({
          default: '256mb',
          description: 'Limit for all responses of a key, including their input.',
        }),
        maxCount: Type.Integer({ minimum: 1, default: 10_000, description: 'Max responses of a key.' }),
        maxEach: Size({
          default: '32mb',
          description:
            'Limit for one response including its input; a larger one is answered but not stored (x-gw-dropped: store).',
        }),
      },
      {
        default: {},
        description:
          'Limits on stored answers in the Responses format; beyond them the oldest of a key are deleted.',
      },
    ),
  }),
  setup({ keepAlive, earlyKeepAlive, brokenStreams, countTokens, storedResponses }, host) {
    const keepAliveMs = durationMs(keepAlive);
    const cutsOnFailure = brokenStreams === 'close';
    const quota = quotaOf(storedResponses);
    const unstored = host.metrics.counter('gw2api_responses_unstored_total', unstoredHelp, []);
    const early =
      earlyKeepAlive === undefined ? undefined : new EarlyReplies(durationMs(earlyKeepAlive), host.clock);
    const middleware: StageMiddleware = async function formatEncode(ctx, next) {
      const { state } = ctx;
      if (state.operation === 'count-tokens') {
        const format = host.formats.get(state.format);
        const { body, isEstimate } = countBody(countOf(state), countTokens, format);
        if (isEstimate) ctx.set('x-gw-estimated', 'true');
        ctx.body = body;
      } else {
        const format = host.formats.get(state.format);
        const drop = (path: string) => {
          unstored.add({});
          if (!ctx.headerSent) reportDropped(ctx.response, [path]);
        };
        const encoder = await format.encoder(state.body, formatContext(host, ctx, { quota, drop }));
        const isWhole = state.delivery === 'whole';
        if (isWhole) ctx.set('content-type', 'application/json; charset=utf-8'); // skips Koa's MIME lookup
        else prepareStream(ctx, encoder);
        ctx.body = isWhole
          ? bodyWithInputs(await encoder.whole(state.reply))
          : streamBody(encoder, state, { keepAliveMs, clock: host.clock, early, cutsOnFailure });
      }
      state.response = true;
      await next();
    };
    return early ? { middleware, outermost: early.intercept } : middleware;
  },
});

type StageMiddleware = (
  ctx: StageContext<'delivery' | 'reply' | 'body' | 'caller', 'response'>,
  next: () => Promise<void>,
) => Promise<void>;

const unstoredHelp = 'Responses that were too large to be stored.';

interface StoredResponses {
  readonly maxSize: string | number;
  readonly maxCount: number;
  readonly maxEach: string | number;
}

function quotaOf({ maxSize, maxCount, maxEach }: StoredResponses): Required<ResponseQuota> {
  return { bytes: sizeBytes(maxSize), count: maxCount, eachBytes: sizeBytes(maxEach) };
}

/** Sets the headers of a stream, and turns off koa-compress, which would delay events. */
function prepareStream(
  ctx: { set(headers: Record<string, string>): void },
  { contentType = 'text/event-stream; charset=utf-8' }: ReplyEncoder,
): void {
  ctx.set({
    'content-type': contentType,
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  });
  Object.assign(ctx, { compress: false });
}

/** Heartbeat of formats without one: the longest interval that a timer takes. */
const noHeartbeat = { keepAlive: '', keepAliveMs: 2 ** 31 - 1 };

interface StreamOptions extends Pick<Host, 'clock'> {
  readonly keepAliveMs: number;
  readonly early: EarlyReplies | undefined;
  readonly cutsOnFailure: boolean;
}

/**
 * Streaming body. A stream that fails has already sent the error in its own dialect; the core reads it from
 * the trace.
 */
function streamBody(
  encoder: ReplyEncoder,
  { reply, trace, onSettled }: Pick<GatewayState, 'reply' | 'trace' | 'onSettled'>,
  { keepAliveMs, clock, early, cutsOnFailure }: StreamOptions,
): SseBody {
  const onFailure = (error: unknown) => trace.fail(forOperator(toGatewayError(error)));
  const { keepAlive, longSilence } = encoder;
  const heartbeat = keepAlive === undefined ? noHeartbeat : { keepAlive, keepAliveMs };
  const adapted = forStream(reply);
  const text = early?.text(encoder, { reply: adapted, trace }) ?? encoder.stream(adapted);
  const body = new SseBody(text, { onFailure, clock, cutsOnFailure, longSilence, ...heartbeat });
  onSettled(() => body.cancel());
  return body;
}

/** The reply as it fails for its caller. */
function forStream(reply: GatewayState['reply']): GatewayState['reply'] {
  const events = EventStream.from(reply.events).mapFailure(toCaller);
  return events === reply.events ? reply : { ...reply, events };
}

function toCaller(error: unknown): unknown {
  return isGatewayError(error) ? forCaller(error) : error;
}

/**
 * Token count of the request. Not in `requires`, since a pipeline that cannot count is valid until a count is
 * requested.
 */
function countOf(state: object): Count {
  const { count } = state as Partial<Pick<GatewayState, 'count'>>; // other operations lack it
  if (!count) throw new TypeError('No stage of this pipeline counted the tokens.');
  return count;
}

function countBody(
  count: Count,
  asked: 'windows' | 'estimate' | 'exact',
  format: Format,
): { body: object; isEstimate: boolean } {
  const { slot, windows, inputTokens, estimated } = count;
  if (asked === 'exact' && estimated) throw noExactCount(slot);
  if (format.count) return { body: format.count(inputTokens), isEstimate: estimated };
  if (windows && asked === 'windows') return { body: usageBody(slot, windows), isEstimate: false };
  return { body: { input_tokens: inputTokens }, isEstimate: estimated };
}

function noExactCount(slot: string): GatewayError {
  const what = 'cannot count tokens; send the request itself and read its usage.';
  return new GatewayError('not_supported', `Slot "${slot}" ${what}`, {
    callersMessage: `The upstream of this model ${what}`,
    status: 501,
    type: 'not_supported',
  });
}
