import { createSecretKey, type KeyObject } from 'node:crypto';
import {
  Duration,
  durationMs,
  isLoopback,
  Size,
  sizeBytes,
  TlsFiles,
  Type,
  type Host,
  type TlsSettings,
} from '@gw2api/gateway/plugin';
import { credentialNames, requestParts, signingKey, type RequestPart } from '@gw2api/gateway/plugin/remote';
import type { Static } from 'typebox';
import { readTls } from '../shared/read-tls.js';

const Secret = Type.String({ minLength: 1 });
const otherParts = ['caller', 'session'] as const;

export const remoteOptions = Type.Object({
  url: Type.String({
    minLength: 1,
    description: 'Address of the service; http:// only on this machine, or with `insecure`.',
  }),
  insecure: Type.Boolean({ default: false, description: 'Allow http:// to other machines.' }),
  protocol: Type.Enum(['gw2api', 'litellm'] as const, {
    default: 'gw2api',
    description: "gw2api (see config/remote.md) | litellm (LiteLLM's Generic Guardrail API)",
  }),
  on: Type.Array(Type.Enum(['request', 'answer', 'events'] as const), {
    minItems: 1,
    default: ['request'],
    description: 'What to ask about: request, and answer (as a whole) or events (while it streams).',
  }),
  send: Type.Array(
    Type.String({
      pattern: `^(?:${[...requestParts, ...otherParts].join('|')}|header:[\\w!#$%&'*+.^\`|~-]+)$`,
    }),
    {
      default: ['messages'],
      description:
        'Parts that the service is sent, and of the request may change: messages, system, tools, model, extras, caller, session, header:NAME.',
    },
  ),
  timeout: Duration({ default: '1s', description: 'Time limit of each call, up to 30s.' }),
  secret: Type.Optional(
    Type.Unsafe<string | readonly string[]>({
      anyOf: [Secret, Type.Array(Secret, { minItems: 1, maxItems: 2 })],
      secret: true,
      description: 'Signs each question (Standard Webhooks); two while it is changed, the new one first.',
    }),
  ),
  tls: Type.Optional({ ...TlsFiles, description: 'TLS of the connection, as for a slot.' }),
  audit: Type.Boolean({
    default: false,
    description: 'Ask beside the request, which goes on as it is: verdicts are counted alone.',
  }),
  lost: Type.Enum(['end', 'pass'] as const, {
    default: 'end',
    description: 'What follows a failure after the answer has begun: its end, or the rest unreviewed.',
  }),
  chunk: Type.Object(
    {
      chars: Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        default: 400,
        description: 'Characters of an answer that are sent at once, at least.',
      }),
      after: Duration({ default: '250ms', description: 'How long fewer wait.' }),
    },
    { default: {}, description: 'How events are gathered.' },
  ),
  hold: Size({ default: '64kb', description: 'Max events that wait for a verdict, or that verdicts hold.' }),
  answer: Size({ default: '1mb', description: 'Max size of a whole answer.' }),
  context: Type.Record(Type.String(), Type.Unknown(), {
    default: {},
    description: 'Sent with each question.',
  }),
  keepsPrefix: Type.Boolean({
    default: false,
    description: 'True if the service changes the beginning of a conversation the same way each time.',
  }),
});

export interface Settings {
  readonly url: URL;
  readonly protocol: 'gw2api' | 'litellm';
  readonly asksRequests: boolean;
  readonly asksAnswers: boolean;
  /** False: the answer is asked about as a whole. */
  readonly asksEvents: boolean;
  readonly parts: readonly RequestPart[];
  readonly sendsCaller: boolean;
  readonly sendsSession: boolean;
  /** Names of headers, lower case. */
  readonly headers: readonly string[];
  readonly timeoutMs: number;
  readonly secrets: readonly string[];
  /** Keys of the secrets. */
  readonly keys: readonly KeyObject[];
  readonly tls: TlsSettings | undefined;
  readonly audit: boolean;
  readonly passesLost: boolean;
  readonly chunkChars: number;
  readonly chunkAfterMs: number;
  readonly holdBytes: number;
  readonly answerBytes: number;
  /** JSON of the option. */
  readonly context: string;
}

/** Settings of the options. Throws an Error that names an option and its cure. */
export function readSettings(options: Static<typeof remoteOptions>, host: Host): Settings {
  const { protocol, on, send, secret = [], chunk } = options;
  const has = new Set<string>(send);
  checkPhases(options);
  return {
    url: serviceUrl(options),
    protocol,
    asksRequests: on.includes('request'),
    asksAnswers: on.includes('answer') || on.includes('events'),
    asksEvents: on.includes('events'),
    parts: requestParts.filter((part) => has.has(part)),
    sendsCaller: has.has('caller'),
    sendsSession: has.has('session'),
    headers: send.filter((part) => part.startsWith('header:')).map(headerOf),
    timeoutMs: timeoutOf(options.timeout),
    secrets: [secret].flat(),
    keys: [secret].flat().map((each) => createSecretKey(signingKey(each))), // a KeyObject signs faster
    tls: options.tls && readTls(options.tls, host),
    audit: options.audit,
    passesLost: options.lost === 'pass',
    chunkChars: chunk.chars,
    chunkAfterMs: durationMs(chunk.after),
    holdBytes: sizeBytes(options.hold),
    answerBytes: sizeBytes(options.answer),
    context: JSON.stringify(options.context),
  };
}

function checkPhases({ on, protocol, send }: Static<typeof remoteOptions>): void {
  if (on.includes('answer') && on.includes('events'))
    throw new Error(
      'with.on has both answer and events; name one: answer waits for the whole, events do not',
    );
  if (protocol === 'litellm' && on.includes('events'))
    throw new Error('with.on has events, which the protocol litellm does not know; name answer instead');
  if (protocol === 'litellm' && on.includes('request') && !send.includes('messages'))
    throw new Error('with.send has no messages, whose texts the protocol litellm is about; name them');
}

function serviceUrl({ url: text, insecure }: Static<typeof remoteOptions>): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error('with.url is not the URL of an HTTP service');
  if (url.username || url.password)
    throw new Error('with.url has a user or a password; sign the questions by `secret` instead');
  if (url.protocol === 'http:' && !insecure && !isLoopback(url.hostname))
    throw new Error('with.url is http:// to another machine; use https://, or say `insecure: true`');
  return url;
}

function headerOf(part: string): string {
  const name = part.slice('header:'.length).toLowerCase();
  if (credentialNames.has(name))
    throw new Error(`with.send has "${part}", whose value is a secret; send "caller" instead`);
  return name;
}

function timeoutOf(timeout: string): number {
  const ms = durationMs(timeout);
  if (ms < 1 || ms > 30_000) throw new Error('with.timeout must be from 1ms to 30s');
  return ms;
}
