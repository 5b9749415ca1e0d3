import type { Static } from 'typebox';
import { Closed } from '../../kit/schema/type.js';
import { parseNetwork } from '../../kit/networks.js';
import { durationMs, Type } from '../../plugin/index.js';
import type { SchemaError } from '../../plugin/upstream/index.js';
import type { Environment } from '../environment.js';
import { aliasPattern, knownAliases, toAliases } from '../path-aliases.js';
import {
  duration,
  schemasOf,
  section,
  setting,
  settled,
  shown,
  type Raw,
  type SettingContext,
} from './section.js';

const Text = Type.String({ minLength: 1 });

const webSockets = {
  origins: setting(
    Type.Array(Text, { default: [] }),
    `Origins of web pages that may open WebSockets, besides the gateway's own: ["https://app.example.com"]; "*":
      all.`,
  ),
  maxPerKey: setting(
    Type.Integer({ minimum: 1, default: 16 }),
    'Max open WebSockets of a key in each process; further ones: 429.',
  ),
  pingInterval: duration(
    '30s',
    'Interval of pings; a caller whose machine has sent nothing since the last ping is considered gone.',
  ),
  idleTimeout: duration('10m', 'A WebSocket is closed after this time without a message or an answer.'),
  maxAge: duration('60m', 'A WebSocket is closed at this age, after the current answer.'),
};

const WebSockets = Closed(schemasOf(webSockets));

const WebSocketsOrOff = Type.Unsafe<false | Static<typeof WebSockets>>({
  ...WebSockets,
  type: ['object', 'boolean'],
  if: { type: 'boolean' },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { const: false },
  default: {},
});

const fields = {
  host: setting(
    Type.String({ minLength: 1, default: '0.0.0.0' }),
    'Address to listen on. HOST in the environment overrides it.',
    { settle: (host, { env }) => env.HOST || host },
  ),
  port: setting(
    Type.Integer({ minimum: 0, maximum: 65_535, default: 8787 }),
    'PORT in the environment overrides it. 0 takes any free port.',
    { settle: (port, { env }) => (env.PORT ? Number(env.PORT) : port) },
  ),
  workers: setting(
    Type.Unsafe<number | 'auto'>({ type: ['integer', 'string'], minimum: 1, default: 1 }),
    `Number of processes that serve this address, with the guarantees of one; "auto": one per core.
      Needs a store that processes share: not store: memory.`,
  ),
  trustProxy: setting(
    Type.Unsafe<boolean | number | readonly string[]>({
      type: ['boolean', 'integer', 'array'],
      items: Text,
      minItems: 1,
      minimum: 1,
      default: false,
    }),
    `Trust x-forwarded-* headers: only behind a proxy that sets them itself. true or 1: one proxy, whose
      entry is the last of x-forwarded-for. A number N: N proxies one behind the other (CDN, nginx: 2), and
      the caller is the N-th entry from the right. A list of networks, such as [10.0.0.0/8, fd00::/8], has
      those of your proxies: the caller is the first entry from the right outside all of them, and
      headers of a connection from elsewhere are not trusted.`,
    { settle: (trusted) => (trusted === true ? 1 : trusted) },
  ),
  aliases: setting(
    Type.Unsafe<boolean | readonly string[]>({
      type: ['boolean', 'array'],
      items: Type.String({ pattern: aliasPattern }),
      default: true,
    }),
    `Paths that clients use instead of the gateway's own, tried only if no route has
      matched: true for the whole list, false for none, or those that you name. A path in the list is
      a prefix that is removed (/anthropic/v1/messages is /v1/messages), also one of your own; "/v1/v1" is a
      doubled /v1, "//" a doubled slash, /openai/deployments is /openai/deployments/NAME/chat/completions,
      whose NAME is the model. They lead to the routes of formats, of the models and of the health alone.
      All: [${knownAliases.map((alias) => `"${alias}"`).join(', ')}]`,
    { settle: toAliases },
  ),
  drainDelay: duration(
    '0s',
    `How long requests are still served after SIGTERM, while /health?ready=1 returns 503 and each
      answer closes its connection; then the port is closed. 0s: new requests are refused at once with 503. Behind
      a load balancer: longer than it keeps idle connections, and longer than it takes to notice.`,
    { live: true },
  ),
  shutdownTimeout: duration(
    '30s',
    'How long streams may go on after that before they are ended with an error event.',
    { live: true },
  ),
  headersTimeout: duration('30s', 'Time limit for the headers of a request; beyond it: 408.'),
  bodyIdleTimeout: duration(
    '30s',
    `Longest silence within the body of a request. A body that takes longer than this in total must also
      arrive at 1 kB/s or more on average; else: 408.`,
  ),
  callerIdleTimeout: duration(
    '60s',
    `Time in which a caller must read 16 kB of an answer while more of it is waiting; else its
      connection is closed and the slot freed. 0s: no limit.`,
  ),
  keepAliveTimeout: duration(
    '75s',
    `How long an idle connection is kept open. Must be longer than the load balancer in front keeps it, or
      a request may arrive on a connection that is being closed: 11m behind Google Cloud's, which keeps it for 10
      minutes.`,
  ),
  stuckTimeout: duration(
    '10s',
    `Time without a turn of the event loop after which a process counts as stuck, for example in an
      endless loop of a plugin: its stack is logged, a worker is killed at once, and a single process after 60 s.
      0s: off, else at least 1s.`,
  ),
  maxConnections: setting(
    Type.Integer({ minimum: 1, default: 8192 }),
    'Open connections of each process; further ones are closed at once.',
  ),
  backlog: setting(
    Type.Integer({ minimum: 1, maximum: 65_535, default: 4096 }),
    'Max connections that the system queues until they are accepted; it may allow fewer (net.core.somaxconn).',
  ),
  webSockets: setting(
    WebSocketsOrOff,
    `WebSockets (GET /v1/responses with an upgrade); a message may be as large as a body (body-limit).
      false: off, upgrades are answered with 426, after which Codex keeps to HTTP.`,
    {
      settle: (raw, context) => raw && settled(webSockets, raw, context),
      show: (values) => values && shown(webSockets, values),
    },
  ),
};

type RawListen = Raw<typeof fields>;

/** Section `listen:`; PORT and HOST of the environment override the file. */
export const listen = section(fields, { needsRestart: true, errors: listenErrors });

function listenErrors(listen: RawListen, { store }: SettingContext): readonly SchemaError[] {
  return [...networkErrors(listen), ...stuckTimeoutErrors(listen), ...workerErrors(listen, store)];
}

function stuckTimeoutErrors({ stuckTimeout }: RawListen): readonly SchemaError[] {
  const ms = durationMs(stuckTimeout);
  if (ms === 0 || ms >= minStuckMs) return [];
  const message = `must be 0s (no watchdog) or at least 1s, not "${stuckTimeout}"`;
  return [{ path: ['listen', 'stuckTimeout'], message }];
}

/** Min limit: shorter times would match a garbage collection or a busy machine. */
const minStuckMs = 1000;

function networkErrors({ trustProxy }: RawListen): readonly SchemaError[] {
  const texts: readonly string[] = Array.isArray(trustProxy) ? trustProxy : [];
  return texts.flatMap((text, at) => {
    if (parseNetwork(text)) return [];
    const message = `must be a network such as 10.0.0.0/8 or fd00::/8, not ${JSON.stringify(text)}`;
    return [{ path: ['listen', 'trustProxy', at], message }];
  });
}

function workerErrors({ workers }: RawListen, store: string | undefined): readonly SchemaError[] {
  const path = ['listen', 'workers'];
  if (typeof workers === 'string' && workers !== 'auto')
    return [{ path, message: `must be a whole number or "auto", not "${String(workers)}"` }];
  if (workers === 1 || store !== 'memory') return [];
  const message =
    'needs a store that several processes share: set store to "sqlite:PATH" or "postgres://USER@HOST/DATABASE"';
  return [{ path, message }];
}

/** Rules for PORT, which overrides `listen.port`. */
export function portErrors({ PORT }: Environment): readonly SchemaError[] {
  if (!PORT || (/^\d+$/.test(PORT) && Number(PORT) <= 65_535)) return [];
  const message = `the environment variable PORT, which overrides it, must be a port from 0 to 65535, not "${PORT}"`;
  return [{ path: ['listen', 'port'], message }];
}
