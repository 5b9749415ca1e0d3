import path from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { ProcessWorkshop, type GatewayProcess } from '../../../gateway/gateway-process.js';
import { masterKey } from '../../../gateway/harness.js';
import { makeCertificate, type Certificate } from '../certificates.js';
import { watchOver } from '../redis-groups.js';
import { RedisProcess, redisProgram } from '../redis-process.js';

const plainServer = {
  form: 'a server',
  start: async (certificate: Certificate) => {
    const server = await RedisProcess.start(secured(certificate));
    return { server, others: [], live: `rediss://127.0.0.1:${server.port}` };
  },
} as const;

/** Forms of `live:`, each with the server whose certificate its sockets meet first. */
const forms = [
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

describe('a Redis server with TLS', () => {
  if (redisProgram === undefined) it('is tested where GW_TEST_REDIS_SERVER names the program');
  else describeTls();
});

function describeTls(): void {
  const workshop = new ProcessWorkshop();
  let folder: string;
  let server: RedisProcess;
  let others: readonly RedisProcess[];
  beforeEach(async () => {
    folder = await workshop.folder();
  });
  afterEach(async () => {
    await Promise.all([server, ...others].map((one) => one.end()));
    await workshop.end();
  });

  const startGateway = async (live: unknown, trusted?: Certificate): Promise<GatewayProcess> => {
    const uses = ['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'];
    const config = {
      live,
      store: 'memory',
      pipeline: uses.map((use) => ({ use })),
      slots: [{ id: 'a', upstream: 'simulator' }],
    };
    const file = path.join(await workshop.folder({ 'gateway.yaml': config }), 'gateway.yaml');
    const trust = trusted && { NODE_EXTRA_CA_CERTS: trusted.cert };
    return workshop.start({ args: ['--config', file], env: { GW2API_API_KEY: masterKey, ...trust } });
  };
  const goesOnAlone = async (gateway: GatewayProcess) => {
    const { reason } = await gateway.line(({ msg }) => /is unavailable/.test(msg));
    await server.output(/Error accepting a client connection/g, 3); // of more than one attempt
    expect((await fetch(`${await gateway.url()}/health`)).status).to.equal(200);
    return reason;
  };
  const endsInOrder = async (gateway: GatewayProcess) => {
    gateway.signal('SIGTERM');
    expect(await gateway.ended).to.include({ code: 0, stderr: '' });
  };

  for (const [what, options, isTrusted, reason] of [
    ['not trusted', {}, false, /self-signed certificate/],
    ['expired', { isExpired: true }, true, /certificate has expired/],
    ['of another name', { names: 'DNS:elsewhere.example' }, true, /altnames/],
  ] as const)
    for (const { form, start } of isTrusted ? [plainServer] : forms)
      it(`leaves a gateway alone where the certificate of ${form} is ${what}, and does not end it`, async () => {
        const certificate = await makeCertificate(folder, options);
        let live: unknown;
        ({ server, others, live } = await start(certificate));
        const gateway = await startGateway(live, isTrusted ? certificate : undefined);
        expect(await goesOnAlone(gateway)).to.match(reason);
        await endsInOrder(gateway);
      });

  for (const { form, start } of forms.filter(({ form: name }) => !name.includes('sentinel')))
    it(`may change the certificate of ${form}: gateways go on alone, and join when it is trusted again`, async () => {
      const trusted = await makeCertificate(folder);
      const other = await makeCertificate(folder, { names: 'IP:127.0.0.1,DNS:other' });
      let live: unknown;
      ({ server, others, live } = await start(trusted));
      const gateway = await startGateway(live, trusted);
      await gateway.line(({ msg }) => /is joined/.test(msg));
      await exchange(server, other);
      await goesOnAlone(gateway);
      await exchange(server, trusted);
      await gateway.line(({ msg }) => /answers again/.test(msg));
      await endsInOrder(gateway);
    });

  it('may change the certificate of the sentinels, who come with it anew', async () => {
    const trusted = await makeCertificate(folder);
    const other = await makeCertificate(folder, { names: 'IP:127.0.0.1,DNS:other' });
    const master = await RedisProcess.start(secured(trusted));
    others = [master];
    server = await startSentinel(trusted, master.port);
    const gateway = await startGateway(watchedBy(server.port), trusted);
    await gateway.line(({ msg }) => /is joined/.test(msg));
    const { port } = server;
    await server.end();
    server = await startSentinel(other, master.port, port);
    await dropClients(master);
    await goesOnAlone(gateway);
    await server.end();
    server = await startSentinel(trusted, master.port, port);
    await gateway.line(({ msg }) => /answers again/.test(msg));
    await endsInOrder(gateway);
  });
}

/** Options of a server with TLS on its port. */
function secured({ cert, key }: Certificate): (port: number) => readonly string[] {
  const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
  const tls = ['--tls-auth-clients', 'no', '--tls-replication', 'yes'];
  return (port) => ['--port', '0', '--tls-port', String(port), ...files, ...tls];
}

function startSentinel(certificate: Certificate, master: number, port?: number): Promise<RedisProcess> {
  return RedisProcess.startSentinel(watchOver(master, 1), secured(certificate), port);
}

function watchedBy(port: number) {
  return { url: 'rediss://servers', sentinel: { name: 'mymaster', nodes: [`127.0.0.1:${port}`] } };
}

/** Gives the server another certificate, and ends the connections that have the former one. */
async function exchange(server: RedisProcess, next: Certificate): Promise<void> {
  await withRedis(server, async (redis) => {
    await redis.config('SET', 'tls-cert-file', next.cert, 'tls-key-file', next.key);
  });
  await dropClients(server);
}

async function dropClients(server: RedisProcess): Promise<void> {
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
