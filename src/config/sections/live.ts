import type { Static } from 'typebox';
import { addressErrors } from '../addresses.js';
import { plainValue } from '../diff/values.js';
import type { LiveSettings } from '../../state/live/index.js';
import {
  toRedisAddress,
  toRedisNode,
  type RedisAddress,
  type RedisNode,
} from '../../state/live/redis/address.js';
import { Closed, Described } from '../../kit/schema/type.js';
import { isRecord } from '../../kit/schema/record.js';
import { redactAddresses } from '../../kit/schema/redact.js';
import { Type } from '../../plugin/index.js';
import type { SchemaError } from '../../plugin/upstream/index.js';
import type { Section } from './section.js';

const Text = Type.String({ minLength: 1 });
const Nodes = Type.Array(Text, { minItems: 1, maxItems: 100 });

const Servers = Closed({
  url: Text,
  sentinel: Type.Optional(
    Closed({
      name: Text,
      nodes: Nodes,
      username: Type.Optional(Text),
      password: Type.Optional(Type.String({ minLength: 1, secret: true })),
      tls: Type.Optional(Type.Boolean()),
    }),
  ),
  cluster: Type.Optional(Nodes),
});

/** `live:` with its own address and credentials, as written. */
type RawServers = Static<typeof Servers>;

const Live = Described(
  Type.Unsafe<string | RawServers>({ ...Servers, type: ['string', 'object'], default: 'memory' }),
  `State that instances share while they run: slot states, permits, limits, and revoked keys. memory for one
    instance; redis://USER:PASSWORD@HOST:6379/0?prefix=gw2api for several (rediss:// with TLS; Redis 6 or newer, or
    Valkey). The prefix identifies the gateway: another gateway on the same Redis needs another prefix. While Redis is down
    each instance works on its own. With Sentinel or a cluster it is an object (below). Its url has what applies to
    every server: user, password, TLS, prefix and, but for a cluster, the database; its host is only a name. sentinel has
    user, password and tls of the sentinels (default: TLS where the url has it).`,
);

type RawLive = Static<typeof Live>;

/** Section `live:`, whose address is split into its parts in the checked config. */
export const live = {
  schema: Live,
  needsRestart: true,
  reloaded: new Set<string>(),
  errors: (raw: RawLive) => liveErrors(raw),
  settle: (raw: RawLive) => toLive(raw),
  compared: (settings: LiveSettings, written: unknown) => ({
    raw: settings,
    shown: shownLive(settings, written),
  }),
} satisfies Section<typeof Live, LiveSettings>;

/** State shared by the instances: `memory`, or Redis. `raw` has passed `liveErrors`. */
export function toLive(raw: RawLive): LiveSettings {
  if (raw === 'memory') return { kind: 'memory' };
  return { kind: 'redis', ...(typeof raw === 'string' ? toRedisAddress(raw) : withServers(raw)) };
}

function withServers({ url, sentinel, cluster }: RawServers): RedisAddress {
  const address = toRedisAddress(url);
  if (cluster) {
    const nodes = nodesOf(cluster);
    return { ...address, label: `the cluster of ${cluster[0]}`, directory: { kind: 'cluster', nodes } };
  }
  if (!sentinel) return address;
  const { name, username, password, tls = address.access.tls !== undefined } = sentinel;
  const terms = {
    db: 0,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: {} }),
  };
  const directory = { kind: 'sentinel', name, nodes: nodesOf(sentinel.nodes), terms } as const;
  return { ...address, label: `${name} (Sentinel)`, directory };
}

function nodesOf(texts: readonly string[]): readonly RedisNode[] {
  return texts.flatMap((text) => toRedisNode(text) ?? []); // all of them have passed `nodeErrors`
}

/** Rules for `live:`; messages do not repeat an address, because it may hold a password. */
export function liveErrors(raw: RawLive): readonly SchemaError[] {
  if (raw === 'memory') return [];
  if (typeof raw === 'string') return urlErrors(raw, ['live']);
  const { url, sentinel, cluster } = raw;
  const isBoth = sentinel !== undefined && cluster !== undefined;
  const message = 'must not stand beside "sentinel": Redis is watched over by sentinels, or is a cluster';
  return [
    ...urlErrors(url, ['live', 'url'], cluster !== undefined),
    ...nodeErrors(sentinel?.nodes, ['live', 'sentinel', 'nodes']),
    ...nodeErrors(cluster, ['live', 'cluster']),
    ...(isBoth ? [{ path: ['live', 'cluster'], message }] : []),
  ];
}

function urlErrors(url: string, path: readonly string[], isCluster = false): readonly SchemaError[] {
  const faults = addressErrors([...path], url);
  if (faults.length > 0) return faults;
  const at = (message: string) => [{ path: [...path], message }];
  try {
    toRedisAddress(url);
  } catch (error) {
    return at((error as Error).message); // it throws nothing else
  }
  const hasDatabase = new URL(url).pathname.length > 1;
  return isCluster && hasDatabase ? at('must name no database: a cluster has none') : [];
}

function nodeErrors(nodes: readonly string[] = [], path: readonly string[]): readonly SchemaError[] {
  const message = 'must be HOST:PORT, such as 127.0.0.1:26379 or [::1]:26379';
  return nodes.flatMap((text, at) => (toRedisNode(text) ? [] : [{ path: [...path, at], message }]));
}

/** One text, even if the file has an object, since it is compared as one value. */
function shownLive(settings: LiveSettings, written: unknown): unknown {
  if (settings.kind === 'memory') return settings.kind;
  const { label, prefix, access, directory } = settings;
  const text = `${access.tls ? 'rediss' : 'redis'}://${label}/${access.db} with the prefix ${prefix}`;
  if (!directory) return plainValue(text, isRecord(written) ? written['url'] : written).shown;
  const { url, sentinel, cluster = [] } = written as RawServers; // only that form has a directory
  const nodes = sentinel
    ? `${sentinel.name} by the sentinels ${sentinel.nodes.join(', ')}`
    : cluster.join(', ');
  return `${String(redactAddresses(url))} of ${nodes}`;
}
