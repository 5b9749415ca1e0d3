import path from 'node:path';
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import {
  allExtras,
  definePlugin,
  Duration,
  durationMs,
  Size,
  sizeBytes,
  stickyKey,
  Type,
  type MessagesRequest,
  type StageContext,
  type ModelEvent,
  type ModelEventBatch,
  type Transform,
  globMatcher,
} from '@gw2api/gateway/plugin';
import { Recordings, requireKey, type Recording } from './shared/recordings.js';

/**
 * Writes requests as they stand at its place to a folder, encrypted with GW_SECRET_KEY, for `gw2api replay`. Below
 * format-decode these are Messages requests, and below redact redacted ones.
 */
export default definePlugin({
  name: 'record',
  api: 1,
  requires: ['body', 'caller'],
  reads: ['request', 'delivery'],
  intercepts: true,
  options: Type.Object({
    folder: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Relative to this file. Default: data/recorded in the working directory, beside the store.',
      }),
    ),
    sample: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 1,
      description: 'Share of sessions, from 0 to 1; a request without a session counts as one.',
    }),
    answers: Type.Boolean({ default: false, description: 'Also the answers of the model.' }),
    headers: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description: 'Globs over further headers to keep; one that may be a secret is never kept.',
    }),
    keep: Duration({
      default: '7d',
      description: 'Older recordings are deleted, and the oldest ones above this size.',
    }),
    /** Max size of the folder; the oldest recordings go first. */
    maxSize: Size({ default: '1gb' }),
    maxEach: Size({
      default: '8mb',
      description: 'A larger request is not recorded, nor is a larger answer.',
    }),
  }),
  async setup({ folder: given, sample, answers, headers, keep, maxSize, maxEach }, host) {
    const folder = given === undefined ? path.resolve('data/recorded') : host.resolvePath(given);
    const { secrets, log } = host;
    await requireKey(secrets);
    const counter = host.metrics.counter(
      'gw2api_recordings_total',
      'Requests by the outcome of recording them.',
      ['result'],
    );
    const maxChars = sizeBytes(maxEach);
    const recordings = new Recordings({
      folder,
      secrets,
      keepMs: durationMs(keep),
      maxBytes: sizeBytes(maxSize),
      maxBodyChars: maxChars,
      clock: host.clock,
      onResult(result, error) {
        counter.add({ result });
        if (result === 'failed') log.warn({ err: error, folder }, 'A request could not be recorded.');
      },
    });
    const taps = new WeakMap<object, AnswerTap>();
    host.notice(`Requests are recorded in ${folder} (${Math.round(sample * 1000) / 10} %)`);
    return {
      start: () => (host.dry ? undefined : recordings.open()),
      dispose: () => recordings.close(),
      async middleware(ctx, next) {
        const { state, req } = ctx;
        if (!host.dry && isSampled(stickyKey(state.caller.keyId, ctx.headers) ?? state.requestId, sample)) {
          const tap = new AnswerTap(maxChars);
          if (answers) taps.set(req, tap);
          const draft = { ...draftOf(ctx, host.clock.now()), headers: keptHeaders(ctx.headers, headers) };
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

type RecordContext = StageContext<'body' | 'caller', never, 'request' | 'delivery'>;

function draftOf(ctx: RecordContext, atMs: number): Omit<Recording, 'outcome' | 'headers'> {
  const { requestId, format, caller, body, request, delivery, trace } = ctx.state;
  const { kind, keyId, name, team, pipeline } = caller;
  const above = trace.stages.slice(0, -1).filter(({ skipped }) => !skipped);
  return {
    version: 1,
    atMs,
    requestId,
    method: ctx.method,
    url: keptUrl(ctx.url),
    format,
    caller: {
      kind,
      keyId,
      name,
      ...(team && { team: { id: team.id, name: team.name } }),
      ...(pipeline !== undefined && { pipeline }),
    },
    passed: above.map(({ stage }) => stage),
    ...(request ? { ...recordedRequest(request), ...(delivery && { delivery }) } : { body }),
  };
}

function recordedRequest(request: MessagesRequest): Pick<Recording, 'request' | 'extras'> {
  const extras = allExtras(request);
  return { request, ...(extras.length > 0 && { extras }) };
}

/** The same for all requests of a session. */
function isSampled(session: string, sample: number): boolean {
  return sample === 1 || createHash('sha256').update(session).digest().readUInt32BE() < sample * 2 ** 32;
}

/** Keeps the events of an answer as they pass, up to a size. */
class AnswerTap implements Transform {
  #left: number;
  #events: (readonly [choice: number, event: string])[] = [];

  constructor(maxChars: number) {
    this.#left = maxChars;
  }

  transform(batch: ModelEventBatch): ModelEventBatch {
    for (const event of batch) this.#keep(event);
    return batch;
  }

  #keep({ choice, data }: ModelEvent): void {
    if (this.#left < 0) return;
    this.#left -= data.length;
    if (this.#left < 0) this.#events = [];
    else this.#events.push([choice, data]);
  }

  /** The events of the answer; empty if there was none, or if it was too large. */
  get recorded(): Pick<Recording, 'answer'> {
    return this.#events.length === 0 ? {} : { answer: this.#events };
  }
}

/** Headers that determine the form of the answer and the session of a request. */
const known = [
  'anthropic-*',
  'content-type',
  'openai-beta',
  'session-id',
  'user-agent',
  'x-claude-code-session-id',
  'x-conversation-id',
  'x-gw-*',
  'x-session-id',
];

/** Names of possible secrets, even if an option names them. */
const secretName = /auth|cookie|credential|key|passw|secret|token/i;

/** Headers of a request that may be kept: the known ones, and those that the globs name; never one of a secret. */
function keptHeaders(
  headers: IncomingHttpHeaders,
  globs: readonly string[],
): Readonly<Record<string, string>> {
  const isKept = globMatcher([...known, ...globs.map((glob) => glob.toLowerCase())]);
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string' && isKept(name) && !secretName.test(name)) kept[name] = value;
  return kept;
}

/** Path and query of a request, without parameters that may be secrets. */
function keptUrl(url: string): string {
  const [path = '', query = ''] = url.split('?', 2);
  const kept = query.split('&').filter((parameter) => parameter !== '' && !secretName.test(parameter));
  return kept.length === 0 ? path : `${path}?${kept.join('&')}`;
}
