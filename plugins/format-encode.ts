import type { Readable } from 'node:stream';
import {
  definePlugin,
  Duration,
  durationMs,
  formatContext,
  reportDropped,
  Size,
  sizeBytes,
  sseBody,
  toGatewayError,
  usageBody,
  Type,
  type Count,
  type Format,
  type GatewayState,
  type ReplyEncoder,
  type ResponseQuota,
} from 'gw2api/plugin';

/** Answers in the caller's dialect (contract §2.2). */
export default definePlugin({
  name: 'format-encode',
  requires: ['format', 'delivery', 'reply', 'body', 'caller'],
  provides: ['response', 'failure'],
  seals: ['reply'],
  operations: ['generate', 'count-tokens'],
  options: Type.Object({
    /** The silence after which a stream says that it still lives. */
    keepAlive: Duration({ default: '15s' }),
    /** What an OAuth account's token count is: its usage windows (contract §2.2), or a number that is an estimate. */
    countTokens: Type.Union([Type.Literal('windows'), Type.Literal('estimate')], { default: 'windows' }),
    /** The quota of stored responses of each key, whose oldest go where there are too many. */
    storedResponses: Type.Object(
      {
        /** Of all responses of a key, with their input. */
        maxSize: Size({ default: '256mb' }),
        /** Responses of a key. */
        maxCount: Type.Integer({ minimum: 1, default: 10_000 }),
        /** Of one response with its input; a larger one is answered and not stored (`x-gw-dropped: store`). */
        maxEach: Size({ default: '32mb' }),
      },
      { default: {} },
    ),
  }),
  setup({ keepAlive, countTokens, storedResponses }, host) {
    const keepAliveMs = durationMs(keepAlive);
    const quota = quotaOf(storedResponses);
    const unstored = host.metrics.counter('gw2api_responses_unstored_total', unstoredHelp, []);
    return async function formatEncode(ctx, next) {
      const { state } = ctx;
      if (state.operation === 'count-tokens') {
        const { count } = host.formats.get(state.format);
        const { body, isEstimate } = countBody(countOf(state), countTokens === 'windows', count);
        if (isEstimate) ctx.set('x-gw-estimated', 'true');
        ctx.body = body;
      } else {
        const format = host.formats.get(state.format);
        const drop = (path: string) => {
          unstored.add({});
          if (!ctx.headerSent) reportDropped(ctx.response, [path]);
        };
        const encoder = await format.encoder(state.body, formatContext(host, state, { quota, drop }));
        const isWhole = state.delivery === 'whole';
        if (isWhole) ctx.set('content-type', 'application/json; charset=utf-8'); // else Koa looks it up for each answer
        else prepareStream(ctx);
        ctx.body = isWhole ? await encoder.whole(state.reply) : streamBody(encoder, state, keepAliveMs);
      }
      state.response = true;
      await next();
    };
  },
});

const unstoredHelp = 'Responses that were to be stored and are too large for that.';

interface StoredResponses {
  readonly maxSize: string | number;
  readonly maxCount: number;
  readonly maxEach: string | number;
}

function quotaOf({ maxSize, maxCount, maxEach }: StoredResponses): Required<ResponseQuota> {
  return { bytes: sizeBytes(maxSize), count: maxCount, eachBytes: sizeBytes(maxEach) };
}

/** koa-compress would hold events back until it has enough of them. */
function prepareStream(ctx: { set(headers: Record<string, string>): void }): void {
  ctx.set({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  });
  Object.assign(ctx, { compress: false });
}

/** A stream that breaks has said so in its own dialect; the core learns of it from the state. */
function streamBody(
  encoder: ReplyEncoder,
  state: Pick<GatewayState, 'reply' | 'failure'>,
  keepAliveMs: number,
): Readable {
  const onFailure = (error: unknown) => {
    state.failure = toGatewayError(error);
  };
  const { keepAlive } = encoder;
  return sseBody(encoder.stream(state.reply), { keepAlive, keepAliveMs, onFailure });
}

/** Not required: a pipeline whose model call cannot count is fine until somebody asks for a count. */
function countOf(state: object): Count {
  const { count } = state as Partial<Pick<GatewayState, 'count'>>; // the part of it that only this operation has
  if (!count) throw new TypeError('No stage of this pipeline has counted the tokens.');
  return count;
}

function countBody(
  count: Count,
  showWindows: boolean,
  encode: Format['count'],
): { body: object; isEstimate: boolean } {
  const { slot, windows, inputTokens, estimated } = count;
  if (encode) return { body: encode(inputTokens), isEstimate: estimated };
  if (windows && showWindows) return { body: usageBody(slot, windows), isEstimate: false };
  return { body: { input_tokens: inputTokens }, isEstimate: estimated };
}
