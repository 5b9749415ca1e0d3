import path from 'node:path';
import { Redis } from 'ioredis';
import { expect } from 'chai';
import { ProcessWorkshop, type GatewayProcess } from '../../../whole/gateway-process.js';
import { masterKey } from '../../../whole/harness.js';
import type { Certificate } from '../certificates.js';
import { watchOver } from '../redis-groups.js';
import { RedisProcess } from '../redis-process.js';

export const plainServer = {
  form: 'a server',
  start: async (certificate: Certificate) => {
    const server = await RedisProcess.start(secured(certificate));
    return { server, others: [], live: `rediss://127.0.0.1:${server.port}` };
  },
} as const;

/** Forms of `live:`, each with the server whose certificate its sockets meet first. */
export const forms = [
  plainServer,
  {
    form: 'a sentinel',
    start: async (certificate: Certificate) => {
      const server = await startSentinel(certificate, 1);
      return { server, others: [], live: watchedBy(server.port) };
    },
  },
  {
    form: 'the master of a sentinel',
    start: async (certificate: Certificate) => {
      const server = await RedisProcess.start(secured(certificate));
      const sentinel = await RedisProcess.startSentinel(watchOver(server.port, 1));
      const { url, sentinel: watched } = watchedBy(sentinel.port);
      return { server, others: [sentinel], live: { url, sentinel: { ...watched, tls: false } } };
    },
  },
  {
    form: 'a cluster node',
    start: async (certificate: Certificate) => {
      const cluster = ['--cluster-enabled', 'yes', '--tls-cluster', 'yes', '--cluster-port'];
      const server = await RedisProcess.start((port) => [
        ...secured(certificate)(port),
        ...cluster,
        String(port - 10_000),
      ]);
      await withRedis(server, async (redis) => void (await redis.cluster('ADDSLOTSRANGE', 0, 16_383)));
      await server.output(/Cluster state changed: ok/);
      return { server, others: [], live: { url: 'rediss://servers', cluster: [`127.0.0.1:${server.port}`] } };
    },
  },
] as const;

/** Servers whose certificate a gateway meets, and the gateways; `end` ends all of them. */
export class TlsWorkshop {
  readonly #workshop = new ProcessWorkshop();
  /** The server whose certificate the sockets meet first. */
  server!: RedisProcess;
  others: readonly RedisProcess[] = [];

  folder(): Promise<string> {
    return this.#workshop.folder();
  }

  /** Starts the servers of a form; returns `live:` for them. */
  async startServers({ start }: (typeof forms)[number], certificate: Certificate): Promise<unknown> {
    const { server, others, live } = await start(certificate);
    this.server = server;
    this.others = others;
    return live;
  }

  async startGateway(live: unknown, trusted?: Certificate): Promise<GatewayProcess> {
    const uses = ['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'];
    const config = {
      live,
      store: 'memory',
      pipeline: uses.map((use) => ({ use })),
      slots: [{ id: 'a', upstream: 'simulator' }],
    };
    const file = path.join(await this.#workshop.folder({ 'gateway.yaml': config }), 'gateway.yaml');
    const trust = trusted && { NODE_EXTRA_CA_CERTS: trusted.cert };
    return this.#workshop.start({ args: ['--config', file], env: { GW2API_API_KEY: masterKey, ...trust } });
  }

  /** Why a gateway goes on alone; it has tried more than once. */
  async goesOnAlone(gateway: GatewayProcess): Promise<unknown> {
    const { reason } = await gateway.line(({ msg }) => isUnavailable(msg));
    await this.triesAgain();
    expect((await fetch(`${await gateway.url()}/health`)).status).to.equal(200);
    return reason;
  }

  async triesAgain(): Promise<void> {
    await this.server.output(/Error accepting a client connection/g, 3); // of more than one attempt
  }

  async end(): Promise<void> {
    await Promise.all([this.server, ...this.others].map((one) => one.end()));
    await this.#workshop.end();
  }
}

export function isUnavailable(message: unknown): boolean {
  return /is unavailable/.test(String(message));
}

export async function endsInOrder(gateway: GatewayProcess): Promise<void> {
  gateway.signal('SIGTERM');
  expect(await gateway.ended).to.include({ code: 0, stderr: '' });
}

/** Options of a server with TLS on its port. */
export function secured({ cert, key }: Certificate): (port: number) => readonly string[] {
  const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
  const tls = ['--tls-auth-clients', 'no', '--tls-replication', 'yes'];
  return (port) => ['--port', '0', '--tls-port', String(port), ...files, ...tls];
}

export function startSentinel(
  certificate: Certificate,
  master: number,
  port?: number,
): Promise<RedisProcess> {
  return RedisProcess.startSentinel(watchOver(master, 1), secured(certificate), port);
}

export function watchedBy(port: number) {
  return { url: 'rediss://servers', sentinel: { name: 'mymaster', nodes: [`127.0.0.1:${port}`] } };
}

/** Gives the server another certificate, and ends the connections that have the former one. */
export async function exchange(server: RedisProcess, next: Certificate): Promise<void> {
  await withRedis(server, async (redis) => {
    await redis.config('SET', 'tls-cert-file', next.cert, 'tls-key-file', next.key);
  });
  await dropClients(server);
}

export async function dropClients(server: RedisProcess): Promise<void> {
  await withRedis(server, async (redis) => {
    for (const kind of ['normal', 'pubsub'])
      await redis.call('CLIENT', 'KILL', 'TYPE', kind, 'SKIPME', 'yes');
  });
}

async function withRedis({ port }: RedisProcess, work: (redis: Redis) => Promise<void>): Promise<void> {
  const redis = new Redis({ port, host: '127.0.0.1', tls: { rejectUnauthorized: false } });
  try {
    await work(redis);
  } finally {
    redis.disconnect();
  }
}
