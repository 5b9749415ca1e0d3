import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { toLive } from '#src/config/sections/live.js';
import { RedisLive, type RedisLiveOptions } from '#src/state/live/redis/live.js';
import type { Place } from '../store/stores.js';

/** The Redis server for tests; undefined: there is none. */
export const redisUrl = process.env['GW_TEST_REDIS_URL'];

/** A prefix of its own on that server. */
export function ownRedis(server: string): Place<string> {
  const prefix = `gw_test_${randomBytes(6).toString('hex')}`;
  const url = new URL(server);
  url.searchParams.set('prefix', prefix);
  return { where: url.href, remove: () => forgetAll(url.href) };
}

/** Takes away all that is under the prefix of an address. */
export async function forgetAll(address: string): Promise<void> {
  const url = new URL(address);
  const prefix = url.searchParams.get('prefix');
  url.search = '';
  const redis = new Redis(url.href);
  const keys = await redis.keys(`{${prefix}}:*`);
  if (keys.length > 0) await redis.del(...keys);
  await redis.quit();
}

/** One more instance at this address, or at what `live:` of a config says. */
export async function openRedis(
  live: Parameters<typeof toLive>[0],
  options: RedisLiveOptions,
): Promise<RedisLive> {
  const address = toLive(live);
  if (address.kind === 'memory') throw new Error('that is no address');
  return RedisLive.open(address, options);
}
