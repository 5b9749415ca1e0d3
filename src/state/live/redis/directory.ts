import type { Redis } from 'ioredis';
import {
  accessTo,
  type RedisAccess,
  type RedisAddress,
  type RedisDirectory,
  type RedisNode,
} from './address.js';
import { askOnce } from './connection.js';
import { RedisNames } from './names.js';

/** Answer of one node of a directory: the server that has the state, or the reason why it named none. */
export interface NodeAnswer {
  /** Host and port of the node. */
  readonly node: string;
  readonly server?: RedisAccess;
  readonly problem?: string;
}

/** Finds the server that has the state of an address; even in a cluster it is one, as all keys have one hash tag. */
export class RedisServers {
  readonly #address: RedisAddress;
  /** Key whose owner is the server. */
  readonly #key: string;
  /** Node that is asked first. */
  #first = 0;

  constructor(address: RedisAddress) {
    this.#address = address;
    this.#key = new RedisNames(address).lock('probe');
  }

  /**
   * The server. Asks one node after the other, starting after the node of the last answer, which may have been stale;
   * rejects if no node names a server.
   */
  async find(): Promise<RedisAccess> {
    const { access, directory } = this.#address;
    if (!directory) return access;
    const { nodes } = directory;
    const problems: string[] = [];
    const first = this.#first;
    for (const [at, each] of [...nodes.slice(first), ...nodes.slice(0, first)].entries()) {
      const { server, node, problem } = await this.#ask(directory, each);
      this.#first = (first + at + 1) % nodes.length;
      if (server) return server;
      problems.push(`${node}: ${problem}`);
    }
    throw new Error(`no server was found: ${problems.join('; ')}`);
  }

  /** The answers of all nodes, for doctor; none without a directory. */
  async survey(): Promise<readonly NodeAnswer[]> {
    const { directory } = this.#address;
    return directory ? Promise.all(directory.nodes.map((node) => this.#ask(directory, node))) : [];
  }

  async #ask(directory: RedisDirectory, node: RedisNode): Promise<NodeAnswer> {
    const { access } = this.#address;
    const label = labelOf(node);
    try {
      const server =
        directory.kind === 'sentinel'
          ? accessTo(await masterBy(accessTo(node, directory.terms), directory.name), access)
          : await ownerOf(this.#key, accessTo(node, access));
      return { node: label, server };
    } catch (error) {
      return { node: label, problem: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** Host and port as they are written in a URL. */
export function labelOf({ host, port }: RedisNode): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The master of this name, by a sentinel. */
async function masterBy(sentinel: RedisAccess, name: string): Promise<RedisNode> {
  const ask = (redis: Redis) => redis.call('SENTINEL', 'get-master-addr-by-name', name);
  const found = await askOnce(sentinel, nodeMs, ask);
  const [host, port] = Array.isArray(found) ? found.map(String) : [];
  if (host === undefined || !Number(port)) throw new Error(`it watches no master named "${name}"`);
  return { host, port: Number(port) };
}

/** The node of a cluster that has a key, which is this one or the one that it redirects to. */
async function ownerOf(key: string, node: RedisAccess, hops = 3): Promise<RedisAccess> {
  try {
    await askOnce(node, nodeMs, (redis) => redis.get(key));
    return node;
  } catch (error) {
    const [, host, port] = /^MOVED \d+ (\S*):(\d+)$/.exec((error as Error).message) ?? []; // `askOnce` throws errors
    if (port === undefined || hops === 0) throw error;
    const owner = { host: host || node.host, port: Number(port) }; // without a host it is that of the node
    return ownerOf(key, accessTo(owner, node), hops - 1);
  }
}

/** Time for the answer of one node, without the grace of a timeout: a silent one costs 300 ms. */
const nodeMs = 250;
