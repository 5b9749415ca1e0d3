import net from 'node:net';
import tls from 'node:tls';
import { AbstractConnector, Redis } from 'ioredis';
import { within } from '../../../kit/time/within.js';
import type { RedisAccess } from './address.js';

/**
 * Connection to one Redis server, not open yet. It never reconnects and queues nothing: a command that cannot
 * be sent fails at once.
 */
export function createConnection(access: RedisAccess): Redis {
  return new Redis({ ...once, ...access });
}

/**
 * Sends one query on a separate connection. Rejects after `ms`, or with the first error of the connection, which is
 * more specific than the closed connection that follows it.
 */
export async function askOnce<Answer>(
  access: RedisAccess,
  ms: number,
  question: (redis: Redis) => Promise<Answer>,
): Promise<Answer> {
  const redis = createConnection(access);
  let firstError: Error | undefined;
  redis.on('error', (error: Error) => (firstError ??= error));
  try {
    return await within(
      redis.connect().then(() => question(redis)),
      ms,
      'it does not answer',
    );
  } catch (error) {
    throw firstError ?? error;
  } finally {
    redis.disconnect();
  }
}

/**
 * Opens the sockets of connections, with an error listener for the life of each: ioredis listens for the first error
 * only, and after a refused certificate the server's TLS alert is a second one.
 */
class Connector extends AbstractConnector {
  readonly #access: RedisAccess;

  constructor(options: unknown) {
    super(disconnectMs);
    this.#access = options as RedisAccess; // ioredis hands on what `createConnection` gave it
  }

  async connect(): Promise<net.Socket> {
    const { host, port, tls: secure } = this.#access;
    const socket = secure ? tls.connect({ host, port, ...secure }) : net.connect({ host, port });
    socket.on('error', (error) => (this.firstError ??= error));
    this.connecting = true;
    this.stream = socket;
    return socket;
  }
}

/** Time until a socket that the server does not close is destroyed. */
const disconnectMs = 2000;

const once = {
  Connector,
  lazyConnect: true,
  retryStrategy: null,
  enableOfflineQueue: false,
  enableReadyCheck: false,
  autoResubscribe: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 1000,
  disableClientInfo: true,
  protocol: 2,
} as const;
