/** How ioredis is to connect. */
export interface RedisAccess {
  readonly host: string;
  readonly port: number;
  readonly db: number;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: { readonly servername: string };
}

/** Where the instances of a gateway meet. */
export interface RedisAddress {
  /** Host and port: fit to be logged. */
  readonly label: string;
  readonly prefix: string;
  readonly db: number;
  readonly access: RedisAccess;
}

/**
 * Reads `redis://USER:PASSWORD@HOST:PORT/DB?prefix=NAME`, or `rediss://…` for TLS. Throws an error whose message says what
 * is wrong, and holds nothing of the address.
 */
export function toRedisAddress(text: string): RedisAddress {
  if (!/^rediss?:\/\//.test(text) || !URL.canParse(text)) throw new Error('must be redis://… or rediss://…');
  const url = new URL(text);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!host) throw new Error('must name a host');
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'prefix');
  if (unknown !== undefined) throw new Error(`has the option "${unknown}", and may have "prefix" alone`);
  const prefix = url.searchParams.get('prefix') ?? 'gw2api';
  if (!/^[\w.:-]{1,100}$/.test(prefix))
    throw new Error('must have a prefix of letters, digits and any of ".:_-", 100 of them at most');
  const db = /^\/?$/.test(url.pathname) ? 0 : Number(/^\/(\d{1,5})$/.exec(url.pathname)?.[1]);
  if (Number.isNaN(db)) throw new Error('must name its database by number, such as redis://HOST:6379/0');
  const port = url.port === '' ? 6379 : Number(url.port);
  return { label: `${url.hostname}:${port}`, prefix, db, access: { host, port, db, ...credentials(url) } };
}

function credentials({
  protocol,
  hostname,
  username,
  password,
}: URL): Omit<RedisAccess, 'host' | 'port' | 'db'> {
  return {
    ...(username !== '' && { username: decoded(username) }),
    ...(password !== '' && { password: decoded(password) }),
    ...(protocol === 'rediss:' && { tls: { servername: hostname } }),
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Error('must have its password percent-encoded ("%" is written "%25")');
  }
}
