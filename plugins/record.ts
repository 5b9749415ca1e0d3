import { createHash } from 'node:crypto';
import {
  definePlugin,
  Duration,
  durationMs,
  Size,
  sizeBytes,
  stickyKey,
  Type,
  type StageContext,
} from 'gw2api/plugin';
import { AnswerTap } from './shared/answer-tap.js';
import { Recordings, type Recording } from './shared/recordings.js';

/** Writes requests to a folder, encrypted with GW_SECRET_KEY, to be replayed against another config. */
export default definePlugin({
  name: 'record',
  requires: ['body', 'caller'],
  intercepts: true,
  options: Type.Object({
    /** Relative to the working directory. */
    folder: Type.String({ minLength: 1, default: './data/recordings' }),
    /** Share of sessions, from 0 to 1; a request without a session is one of its own. */
    sample: Type.Number({ minimum: 0, maximum: 1, default: 1 }),
    /** Also the answers of the model. */
    answers: Type.Boolean({ default: false }),
    /** Older recordings are deleted. */
    keep: Duration({ default: '7d' }),
    /** Max size of the folder; the oldest recordings go first. */
    maxSize: Size({ default: '1gb' }),
    /** Max size of a request or an answer; a larger request is not recorded, nor is a larger answer. */
    maxEach: Size({ default: '8mb' }),
  }),
  setup({ folder, sample, answers, keep, maxSize, maxEach }, host) {
    const { secrets, log } = host;
    const counter = host.metrics.counter('gw2api_recordings_total', 'Requests by how recording them ended.', [
      'result',
    ]);
    const maxChars = sizeBytes(maxEach);
    const recordings = new Recordings({
      folder,
      secrets,
      keepMs: durationMs(keep),
      maxBytes: sizeBytes(maxSize),
      maxBodyChars: maxChars,
      now: () => host.now(),
      onResult(result, error) {
        counter.add({ result });
        if (result === 'failed') log.warn({ err: error, folder }, 'A request could not be recorded.');
      },
    });
    const taps = new WeakMap<object, AnswerTap>();
    host.notice(`Requests are recorded in ${folder} (${Math.round(sample * 1000) / 10} %)`);
    return {
      start: () => recordings.open(),
      dispose: () => recordings.close(),
      async middleware(ctx, next) {
        const { state, req } = ctx;
        if (isSampled(stickyKey(state.caller.keyId, ctx.headers) ?? state.requestId, sample)) {
          const tap = new AnswerTap(maxChars);
          if (answers) taps.set(req, tap);
          const draft = draftOf(ctx, host.now());
          state.onSettled((outcome) => recordings.add({ ...draft, outcome, ...tap.recorded }));
        }
        await next();
      },
      applies: ({ req }) => taps.has(req),
      async intercept(request, call, { req }) {
        const reply = await call(request);
        const tap = taps.get(req);
        return tap ? { ...reply, events: reply.events.through(tap) } : reply;
      },
    };
  },
});

function draftOf(ctx: StageContext<'body' | 'caller', never>, atMs: number): Omit<Recording, 'outcome'> {
  const { requestId, format, caller, body } = ctx.state;
  const { kind, keyId, name } = caller;
  const { method, url } = ctx;
  const headers = harmlessHeaders(ctx.headers);
  return { version: 1, atMs, requestId, method, url, format, caller: { kind, keyId, name }, headers, body };
}

function harmlessHeaders(headers: StageContext<never, never>['headers']): Recording['headers'] {
  const harmless: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string' && !/auth|cookie|credential|key|passw|secret|token/.test(name))
      harmless[name] = value;
  return harmless;
}

/** The same for all requests of a session. */
function isSampled(session: string, sample: number): boolean {
  return sample === 1 || createHash('sha256').update(session).digest().readUInt32BE() < sample * 2 ** 32;
}
