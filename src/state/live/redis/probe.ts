import type { RedisAddress } from './address.js';
import { RedisServers } from './directory.js';
import { RedisNames } from './names.js';
import { writeProbe } from './scripts.js';
import { RedisSession } from './session.js';

/** Answer of a Redis server: its version, if available, and its time in unix milliseconds. */
export interface RedisAnswer {
  /** Host and port of the server. */
  readonly server: string;
  /** Sentinels or nodes of the cluster that do not know it, each with its problem. */
  readonly silent: readonly string[];
  readonly version: string | undefined;
  readonly clockMs: number;
}

/**
 * Tests the operations of a gateway: subscribes to the channels, and runs a script that writes a key, which expires at
 * once, by its text and by its digest. Rejects if that fails or takes too long.
 */
export async function probeRedis(address: RedisAddress): Promise<RedisAnswer> {
  const names = new RedisNames(address);
  const listeners = { onMessage: () => undefined, ended: () => undefined };
  const servers = new RedisServers(address);
  const session = await RedisSession.open(servers, Object.values(names.channels), listeners);
  try {
    const write = () => session.run(writeProbe, [names.lock('probe')], []);
    await write();
    const clockMs = Number(await write());
    const nodes = await servers.survey();
    const silent = nodes.flatMap(({ node, problem }) =>
      problem === undefined ? [] : [`${node}: ${problem}`],
    );
    return { server: session.server, silent, clockMs, version: await versionAt(session) };
  } finally {
    session.end(new Error('the probe is over'));
  }
}

/** Version of the server; undefined if INFO is not allowed. */
async function versionAt(session: RedisSession): Promise<string | undefined> {
  const info = await session.ask((redis) => redis.info('server')).catch(() => '');
  return /^(?:valkey|redis)_version:(\S+)/m.exec(info)?.[1];
}
