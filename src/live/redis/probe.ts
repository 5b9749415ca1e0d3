import type { RedisAddress } from './address.js';
import { RedisNames } from './names.js';
import { writeProbe } from './scripts.js';
import { RedisSession } from './session.js';

/** Answer of a Redis server: its version, if it tells it, and its time in unix milliseconds. */
export interface RedisAnswer {
  readonly version: string | undefined;
  readonly clockMs: number;
}

/**
 * Does what a gateway does at its start: subscribes to the channels, and runs a script that writes a key, which
 * expires at once. Rejects where that fails or takes too long.
 */
export async function probeRedis(address: RedisAddress): Promise<RedisAnswer> {
  const names = new RedisNames(address);
  const listeners = { onMessage: () => undefined, ended: () => undefined };
  const session = await RedisSession.open(address, Object.values(names.channels), listeners);
  try {
    const clockMs = Number(await session.run(writeProbe, [names.lock('probe')], []));
    return { clockMs, version: await versionAt(session) };
  } finally {
    session.end(new Error('the probe is over'));
  }
}

/** Version of the server; undefined where INFO is not allowed. */
async function versionAt(session: RedisSession): Promise<string | undefined> {
  const info = await session.ask((redis) => redis.info('server')).catch(() => '');
  return /^(?:valkey|redis)_version:(\S+)/m.exec(info)?.[1];
}
