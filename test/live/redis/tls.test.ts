import path from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { ProcessWorkshop, type GatewayProcess } from '../../gateway/gateway-process.js';
import { masterKey } from '../../gateway/harness.js';
import { makeCertificate, type Certificate } from '../certificates.js';
import { RedisProcess, redisProgram } from '../redis-process.js';

describe('a Redis server with TLS', () => {
  if (redisProgram === undefined) it('is tested where GW_TEST_REDIS_SERVER names the program');
  else describeTls();
});

function describeTls(): void {
  const workshop = new ProcessWorkshop();
  let folder: string;
  let server: RedisProcess;
  beforeEach(async () => {
    folder = await workshop.folder();
  });
  afterEach(async () => {
    await server.end();
    await workshop.end();
  });

  const serveWith = async ({ cert, key }: Certificate) => {
    const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-auth-clients', 'no'];
    server = await RedisProcess.start((port) => ['--port', '0', '--tls-port', String(port), ...files]);
  };
  const startGateway = async (trusted?: Certificate): Promise<GatewayProcess> => {
    const uses = ['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'];
    const config = {
      live: `rediss://127.0.0.1:${server.port}`,
      store: 'memory',
      pipeline: uses.map((use) => ({ use })),
      slots: [{ id: 'a', upstream: 'simulator' }],
    };
    const file = path.join(await workshop.folder({ 'gateway.yaml': config }), 'gateway.yaml');
    const trust = trusted && { NODE_EXTRA_CA_CERTS: trusted.cert };
    return workshop.start({ args: ['--config', file], env: { GW2API_API_KEY: masterKey, ...trust } });
  };

  for (const [what, options, isTrusted, reason] of [
    ['not trusted', {}, false, /self-signed certificate/],
    ['expired', { isExpired: true }, true, /certificate has expired/],
    ['of another name', { names: 'DNS:elsewhere.example' }, true, /altnames/],
  ] as const)
    it(`leaves a gateway alone where its certificate is ${what}, and does not end it`, async () => {
      const certificate = await makeCertificate(folder, options);
      await serveWith(certificate);
      const gateway = await startGateway(isTrusted ? certificate : undefined);
      const line = await gateway.line(({ msg }) => /is unavailable/.test(msg));
      expect(line['reason']).to.match(reason);
      await server.output(/Error accepting a client connection/g, 10); // two for each attempt
      expect((await fetch(`${await gateway.url()}/health`)).status).to.equal(200);
      gateway.signal('SIGTERM');
      expect(await gateway.ended).to.include({ code: 0, stderr: '' });
    });

  it('may change its certificate: gateways go on alone, and join when it is trusted again', async () => {
    const trusted = await makeCertificate(folder);
    const other = await makeCertificate(folder, { names: 'IP:127.0.0.1,DNS:other' });
    await serveWith(trusted);
    const gateway = await startGateway(trusted);
    await gateway.line(({ msg }) => /is joined/.test(msg));
    await exchange(server, other);
    await gateway.line(({ msg }) => /is unavailable/.test(msg));
    await server.output(/Error accepting a client connection/g, 10); // two for each attempt
    expect((await fetch(`${await gateway.url()}/health`)).status).to.equal(200);
    await exchange(server, trusted);
    await gateway.line(({ msg }) => /answers again/.test(msg));
    gateway.signal('SIGTERM');
    expect(await gateway.ended).to.include({ code: 0, stderr: '' });
  });
}

/** Gives the server another certificate, and ends the connections that have the former one. */
async function exchange(server: RedisProcess, next: Certificate): Promise<void> {
  await withRedis(server, async (redis) => {
    await redis.config('SET', 'tls-cert-file', next.cert, 'tls-key-file', next.key);
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
