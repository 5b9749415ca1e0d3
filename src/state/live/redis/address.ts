import { isIP, isIPv6 } from 'node:net';

/** Redis server shared by the instances of a gateway, or the servers that know the current one. */
export interface RedisAddress {
  /** Host and port, or the name of the servers; safe to log. */
  readonly label: string;
  readonly prefix: string;
  /** With a directory, all of it but host and port. */
  readonly access: RedisAccess;
  /** Nodes that know the server; absent: it is that of `access`. */
  readonly directory?: RedisDirectory;
}

/** Host and port of a server. */
export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

/** Terms of a connection to a server, independent of its address. */
interface RedisTerms {
  readonly db: number;
  readonly username?: string;
  readonly password?: string;
  /** TLS options, without the name if the host is an IP address, which TLS does not send. */
  readonly tls?: { readonly servername?: string };
}

/** Connection options for ioredis. */
export interface RedisAccess extends RedisNode, RedisTerms {}

/** Servers that know which one has the state: sentinels that watch over a master, or nodes of a cluster. */
export type RedisDirectory =
  | {
      readonly kind: 'sentinel';
      /** Name of the master at its sentinels. */
      readonly name: string;
      readonly nodes: readonly RedisNode[];
      readonly terms: RedisTerms;
    }
  | { readonly kind: 'cluster'; readonly nodes: readonly RedisNode[] };

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
  if (unknown !== undefined) throw new Error(`has the unknown option "${unknown}"; only "prefix" is allowed`);
  const prefix = url.searchParams.get('prefix') ?? 'gw2api';
  if (!/^[\w.:-]{1,100}$/.test(prefix))
    throw new Error('must have a prefix of letters, digits and any of ".:_-", 100 of them at most');
  const db = /^\/?$/.test(url.pathname) ? 0 : Number(/^\/(\d{1,5})$/.exec(url.pathname)?.[1]);
  if (Number.isNaN(db)) throw new Error('must name its database by number, such as redis://HOST:6379/0');
  const port = url.port === '' ? 6379 : Number(url.port);
  const terms = { db, ...credentials(url), ...(url.protocol === 'rediss:' && { tls: {} }) };
  const access = accessTo({ host, port }, terms);
  return { label: `${url.hostname}:${port}`, prefix, access };
}

/** Reads `HOST:PORT`, with an IPv6 address in brackets; undefined if it is invalid. */
export function toRedisNode(text: string): RedisNode | undefined {
  const [, v6, name, digits] = /^(?:\[([\da-f:.]{2,45})\]|([\w.-]{1,253})):(\d{1,5})$/i.exec(text) ?? [];
  const port = Number(digits);
  const host = v6 === undefined ? name : isIPv6(v6) ? v6 : undefined;
  return host !== undefined && port >= 1 && port <= 65_535 ? { host, port } : undefined;
}

/** Connection options of a server with these terms. */
export function accessTo({ host, port }: RedisNode, terms: RedisTerms): RedisAccess {
  const { tls, ...plain } = terms;
  return { ...plain, host, port, ...(tls && { tls: isIP(host) ? {} : { servername: host } }) };
}

function credentials({ username, password }: URL): Pick<RedisAccess, 'username' | 'password'> {
  return {
    ...(username !== '' && { username: decoded(username) }),
    ...(password !== '' && { password: decoded(password) }),
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
