import type { Static } from 'typebox';
import { addressErrors } from './addresses.js';
import type { Config } from './config.js';
import {
  toRedisAddress,
  toRedisNode,
  type RedisAddress,
  type RedisNode,
} from '../state/live/redis/address.js';
import { Closed } from '../kit/schema/closed.js';
import { Type } from '../plugin/index.js';
import type { SchemaError } from '../plugin/upstream/index.js';

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

/** `live:` with an address of its own and those who know the server, as written. */
export type RawServers = Static<typeof Servers>;

/** Schema of `live:`; `liveErrors` has the rules that a schema cannot express. */
export const LiveSchema = Type.Unsafe<string | RawServers>({
  ...Servers,
  type: ['string', 'object'],
  default: 'memory',
});

type RawLive = Static<typeof LiveSchema>;

/** State shared by the instances: `memory`, or Redis. `raw` has passed `liveErrors`. */
export function toLive(raw: RawLive): Config['live'] {
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
