import { Redis } from 'ioredis';
import { eventually } from '../../eventually.js';
import { onPort, RedisProcess } from './redis-process.js';

/** A master and its replica, which three sentinels watch over; all of them have passwords. */
export class SentinelGroup {
  readonly master: RedisProcess;
  readonly sentinels: readonly RedisProcess[];
  readonly #all: readonly RedisProcess[];

  static async start(): Promise<SentinelGroup> {
    const auth = ['--requirepass', 'server-secret', '--masterauth', 'server-secret'];
    const fast = ['--repl-diskless-sync-delay', '0'];
    const master = await RedisProcess.start((port) => [...onPort(port), ...auth, ...fast]);
    const follow = ['--replicaof', `127.0.0.1 ${master.port}`];
    const replica = await RedisProcess.start((port) => [...onPort(port), ...auth, ...follow]);
    await replica.output(/MASTER <-> REPLICA sync: Finished with success/);
    const lines = [...watchOver(master.port, 2), 'sentinel auth-pass mymaster server-secret'];
    const passwords = ['requirepass sentinel-secret', 'sentinel sentinel-pass sentinel-secret'];
    const sentinels = await Promise.all(
      Array.from({ length: 3 }, () => RedisProcess.startSentinel([...passwords, ...lines])),
    );
    await Promise.all(sentinels.map((sentinel) => sentinel.output(/\+sentinel sentinel/g, 2)));
    await Promise.all(sentinels.map((sentinel) => sentinel.output(/\+slave slave/)));
    return new SentinelGroup(master, sentinels, [master, replica, ...sentinels]);
  }

  private constructor(
    master: RedisProcess,
    sentinels: readonly RedisProcess[],
    all: readonly RedisProcess[],
  ) {
    this.master = master;
    this.sentinels = sentinels;
    this.#all = all;
  }

  /** `live:` of a config; `nodes` come before those of the sentinels. */
  live(...nodes: readonly number[]) {
    const ports = [...nodes, ...this.sentinels.map(({ port }) => port)];
    const sentinel = { name: 'mymaster', nodes: ports.map(toNode), password: 'sentinel-secret' };
    return { url: 'redis://:server-secret@servers/1', sentinel };
  }

  async end(): Promise<void> {
    await Promise.all(this.#all.map((one) => one.end()));
  }
}

/** Lines in the config of a sentinel; `quorum` of them elect another master. */
export function watchOver(port: number, quorum: number): readonly string[] {
  return [
    `sentinel monitor mymaster 127.0.0.1 ${port} ${quorum}`,
    'sentinel down-after-milliseconds mymaster 300',
    'sentinel failover-timeout mymaster 3000',
  ];
}

/** Three masters of a cluster, of which the one with the keys of `prefix` has a replica. */
export class ClusterGroup {
  /** The master with the keys, its replica, and the two others. */
  readonly owner: RedisProcess;
  readonly replica: RedisProcess;
  readonly others: readonly RedisProcess[];

  static async start(prefix: string): Promise<ClusterGroup> {
    const nodes = await Promise.all(Array.from({ length: 4 }, () => startNode()));
    const [owner, replica, second, third] = nodes as [RedisProcess, RedisProcess, RedisProcess, RedisProcess]; // four
    const slot = await ask(owner, (redis) => redis.cluster('KEYSLOT', `{${prefix}}`));
    const isHigh = slot >= 5461;
    const ranges = [isHigh ? [5461, 16_383] : [0, 5460], isHigh ? [0, 2730] : [5461, 10_922]];
    ranges.push(isHigh ? [2731, 5460] : [10_923, 16_383]);
    for (const [at, node] of [owner, second, third].entries())
      await ask(node, (redis) => redis.cluster('ADDSLOTSRANGE', ...(ranges[at] as [number, number])));
    for (const { port } of [replica, second, third])
      await ask(owner, (redis) => redis.call('CLUSTER', 'MEET', '127.0.0.1', port, port + busOffset));
    const id = await ask(owner, (redis) => redis.cluster('MYID'));
    await eventually(async () => (await infoOf(replica)).includes('cluster_known_nodes:4'), 30_000);
    await ask(replica, (redis) => redis.cluster('REPLICATE', id));
    await replica.output(/MASTER <-> REPLICA sync: Finished with success/);
    const isOk = async (node: RedisProcess) => (await infoOf(node)).includes('cluster_state:ok');
    await eventually(async () => (await Promise.all(nodes.map(isOk))).every(Boolean), 30_000);
    return new ClusterGroup(owner, replica, [second, third]);
  }

  private constructor(owner: RedisProcess, replica: RedisProcess, others: readonly RedisProcess[]) {
    this.owner = owner;
    this.replica = replica;
    this.others = others;
  }

  /** `live:` of a config, which names two nodes without the keys. */
  live(prefix: string) {
    return { url: `redis://servers?prefix=${prefix}`, cluster: this.others.map(({ port }) => toNode(port)) };
  }

  async end(): Promise<void> {
    await Promise.all([this.owner, this.replica, ...this.others].map((one) => one.end()));
  }
}

function startNode(): Promise<RedisProcess> {
  const cluster = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '500'];
  const fast = ['--repl-diskless-sync-delay', '0', '--cluster-replica-validity-factor', '0'];
  const bus = (port: number) => ['--cluster-port', String(port + busOffset)];
  return RedisProcess.start((port) => [...onPort(port), ...bus(port), ...cluster, ...fast]);
}

/** Between the port of a node and that of its bus. */
const busOffset = -10_000;

function infoOf(node: RedisProcess): Promise<string> {
  return ask(node, (redis) => redis.cluster('INFO'));
}

/** Asks a server one question. */
export async function ask<Answer>(
  { port }: RedisProcess,
  question: (redis: Redis) => Promise<Answer>,
): Promise<Answer> {
  const redis = new Redis({ port, host: '127.0.0.1', retryStrategy: null });
  try {
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}

function toNode(port: number): string {
  return `127.0.0.1:${port}`;
}
