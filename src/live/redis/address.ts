import { isIP } from 'node:net';

/** Redis server shared by the instances of a gateway. */
export interface RedisAddress {
  /** Host and port, safe to log. */
  readonly label: string;
  readonly prefix: string;
  readonly access: RedisAccess;
}

/** Connection options for ioredis. */
export interface RedisAccess {
  readonly host: string;
  readonly port: number;
  readonly db: number;
  readonly username?: string;
  readonly password?: string;
  /** The name is absent where the host is an IP address, of which TLS sends none. */
  readonly tls?: { readonly servername?: string };
}

/**
 * Reads `redis://USER:PASSWORD@HOST:PORT/DB?prefix=NAME`, or `rediss://…` for TLS. Throws an Error that
 * describes the error without repeating the address, which may hold a password.
 */
export function toRedisAddress(text: string): RedisAddress {
  if (!/^rediss?:\/\//.test(text) || !URL.canParse(text))
    throw new Error('must be "memory", or "redis://HOST:PORT" (rediss:// with TLS) of a Redis or Valkey');
  const url = new URL(text);
  const host = plainHost(url.hostname);
  if (!host) throw new Error('must name a host');
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'prefix');
  if (unknown !== undefined) throw new Error(`has the option "${unknown}", and may have "prefix" alone`);
  const prefix = url.searchParams.get('prefix') ?? 'gw2api';
  if (!/^[\w.:-]{1,100}$/.test(prefix))
    throw new Error('must have a prefix of letters, digits and any of ".:_-", 100 of them at most');
  const db = /^\/?$/.test(url.pathname) ? 0 : Number(/^\/(\d{1,5})$/.exec(url.pathname)?.[1]);
  if (Number.isNaN(db)) throw new Error('must name its database by number, such as redis://HOST:6379/0');
  const port = url.port === '' ? 6379 : Number(url.port);
  return { label: `${url.hostname}:${port}`, prefix, access: { host, port, db, ...credentials(url) } };
}

function credentials({ protocol, hostname, username, password }: URL): Partial<RedisAccess> {
  return {
    ...(username !== '' && { username: decoded(username) }),
    ...(password !== '' && { password: decoded(password) }),
    ...(protocol === 'rediss:' && { tls: isIP(plainHost(hostname)) ? {} : { servername: hostname } }),
  };
}

/** IPv6 addresses lose the brackets that they have in URLs. */
function plainHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Error('must have its password percent-encoded ("%" is written "%25")');
  }
}
