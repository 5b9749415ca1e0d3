import type { Redis } from 'ioredis';
import { within } from '../../plugin/internal.js';
import type { RedisAddress } from './address.js';
import { createConnection } from './connection.js';

/** Answer of a Redis server: its version, and its time in unix milliseconds. */
export interface RedisAnswer {
  readonly version: string;
  readonly clockMs: number;
}

/** Asks a Redis server for its version and its time, and changes nothing. Rejects where it does not answer in time. */
export async function probeRedis({ access }: RedisAddress): Promise<RedisAnswer> {
  const redis = createConnection(access, { connectTimeout: timeoutMs });
  let firstError: Error | undefined;
  redis.on('error', (error: Error) => (firstError ??= error));
  try {
    return await within(ask(redis), timeoutMs, 'it does not answer');
  } catch (error) {
    throw firstError ?? error;
  } finally {
    redis.disconnect();
  }
}

const timeoutMs = 3000;

async function ask(redis: Redis): Promise<RedisAnswer> {
  await redis.connect();
  const [seconds = 0, micros = 0] = (await redis.time()).map(Number);
  const info = await redis.info('server');
  const version = /^(?:valkey|redis)_version:(\S+)/m.exec(info)?.[1] ?? 'unknown';
  return { version, clockMs: seconds * 1000 + micros / 1000 };
}
