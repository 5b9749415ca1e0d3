import { expect } from 'chai';
import { isUp } from '#src/gateway/services.js';
import { eventually } from '../../../eventually.js';
import { livedMs } from '../../../lived-ms.js';
import { forgetAll, ownRedis, redisUrl } from '../../../state/live/redis-server.js';
import { limitWindow, totalTokens } from '#src/plugin/index.js';
import { ownFolder, ownPostgres, postgresUrl } from '../../../state/store/stores.js';
import { TcpProxy, throughProxy } from '../../../tcp-proxy.js';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { ask, slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { issueKey } from '../../kit.js';
import { PanelClient } from '../../console/panel-client.js';

describe('several gateways on one PostgreSQL and one Redis', () => {
  if (redisUrl === undefined || postgresUrl === undefined)
    it('are tested where GW_TEST_REDIS_URL and GW_TEST_POSTGRES_URL name servers');
  else describeSeveral(redisUrl, postgresUrl);
});

function describeSeveral(redisServer: string, postgresServer: string): void {
  let redis: TcpProxy;
  let postgres: TcpProxy;
  let simulator: Simulator;
  let one: GatewayUnderTest;
  let two: GatewayUnderTest;
  let remove: () => Promise<void>;
  let loseRedisData: () => Promise<void>;
  /** Where it is set, the gateways' clock stands still. */
  let stoppedAtMs: number | undefined;
  beforeEach(async () => {
    const schema = await ownPostgres(postgresServer);
    const prefix = ownRedis(redisServer);
    remove = async () => void (await Promise.all([schema.remove(), prefix.remove(), folder.remove()]));
    loseRedisData = () => forgetAll(prefix.where);
    redis = await proxyOf(redisServer, 6379);
    postgres = await proxyOf(postgresServer, 5432);
    simulator = await startSimulator();
    const slots = [slotAt(simulator.url)];
    const folder = await ownFolder();
    const ledger = { spool: folder.where };
    stoppedAtMs = undefined;
    const start = (store: string, live: string) =>
      startGateway({ slots, ledger, store, live }, {}, () => stoppedAtMs ?? Date.now(), {
        secretKey: 'secret',
      });
    one = await start(throughProxy(schema.where.url, postgres), throughProxy(prefix.where, redis));
    two = await start(schema.where.url, prefix.where);
  });
  afterEach(async () => {
    for (const proxy of [redis, postgres]) proxy.forward();
    await Promise.all([one.close(), two.close()]);
    await Promise.all([simulator.close(), redis.close(), postgres.close()]);
    await remove();
  });

  const statusOf = async (gateway: GatewayUnderTest, key: string) =>
    (await gateway.post('/v1/messages', ask('Hello!'), { 'x-api-key': key })).status;
  const healthOf = async ({ url }: GatewayUnderTest) => {
    const answer = await fetch(`${url}/health?ready=1`);
    const { status, store, live } = (await answer.json()) as Readonly<Record<string, { ok: boolean }>>;
    return [answer.status, status, store!.ok, live!.ok];
  };
  const metricOf = async (gateway: GatewayUnderTest, name: string) =>
    Number(new RegExp(`^${name} (.*)$`, 'm').exec(await (await gateway.get('/metrics')).text())?.[1]);

  it('let a key in nowhere that was revoked at one of them', async () => {
    const key = await issueKey(one, 'team');
    expect(await statusOf(one, key)).to.equal(200);
    expect(await statusOf(two, key)).to.equal(200);
    stoppedAtMs = Date.now(); // so that nothing that is known of keys ever gets old
    await one.gateway.services.store.keys.update('team', { revokedAtMs: Date.now() });
    one.gateway.services.keysChanged();
    expect(await statusOf(one, key)).to.equal(401);
    await eventually(async () => (await statusOf(two, key)) === 401);
  });

  it('take both secrets of a key that is rotated at one of them, and then the new one alone', async () => {
    const key = await issueKey(one, 'team');
    const panel = new PanelClient(one.url);
    expect([await statusOf(one, key), await statusOf(two, key)]).to.deep.equal([200, 200]);
    stoppedAtMs = Date.now(); // so that nothing that is known of keys ever gets old
    const { key: next } = await panel.ask('POST', '/keys/team/rotate', { grace: '1h' });
    for (const gateway of [one, two])
      expect([await statusOf(gateway, key), await statusOf(gateway, next)]).to.deep.equal([200, 200]);
    const { key: last } = await panel.ask('POST', '/keys/team/rotate', { grace: '0s' });
    await eventually(async () => (await statusOf(two, next)) === 401);
    for (const gateway of [one, two])
      for (const [sent, status] of [
        [key, 401],
        [next, 401],
        [last, 200],
      ] as const)
        expect(await statusOf(gateway, sent)).to.equal(status);
  });

  it('count a day anew, with rows that one of them has yet to write, where Redis has lost its data', async () => {
    const key = await issueKey(one, 'daily', { tokensPerDay: 1_000_000 });
    const { live, store, now } = one.gateway.services;
    await eventually(() => live.instances === 2 && two.gateway.services.live.instances === 2);
    for (const gateway of [one, two, two]) expect(await statusOf(gateway, key)).to.equal(200);
    await loseRedisData();
    expect(await statusOf(two, key)).to.equal(200);
    expect(await statusOf(one, key)).to.equal(200);
    for (const { gateway } of [one, two]) await gateway.exchanges.idle();
    await one.gateway.fleet.flushLedger();
    const { meter, period } = limitWindow('tokensPerDay', { kind: 'key', id: 'daily' }, now());
    const query = { ...period!, by: null, keyId: 'daily', stepMs: 86_400_000 };
    const [sum] = await store.ledger.usage(query);
    expect(sum!.requests).to.equal(5);
    expect((await live.meters.read(meter))?.used).to.equal(totalTokens(sum!.shown));
  });

  it('serve by a slot that was entered at one of them', async () => {
    const { store } = one.gateway.services;
    const settings = { upstream: 'simulator' };
    await store.slots.put({
      id: 'entered',
      settings,
      account: { kind: 'none' },
      createdAtMs: 1,
      updatedAtMs: 1,
    });
    await one.gateway.slotsChanged();
    await eventually(() => two.gateway.services.slots.get('entered') !== undefined);
    await store.slots.delete('entered');
    await one.gateway.slotsChanged();
    await eventually(() => two.gateway.services.slots.get('entered') === undefined);
  });

  for (const [how, harm] of [
    ['gone', () => redis.cut()],
    ['frozen', () => redis.freeze()],
  ] as const)
    it(`go on with Redis ${how}, say so, and are together again when it is back`, async () => {
      const key = await issueKey(one, 'team');
      expect(await healthOf(one)).to.deep.equal([200, 'ok', true, true]);
      expect(await statusOf(one, key)).to.equal(200);
      harm();
      const tookMs = await livedMs(async () => {
        for (let at = 0; at < 5; at += 1) expect(await statusOf(one, key)).to.equal(200);
      });
      expect(tookMs).to.be.below(2500);
      await eventually(() => one.gateway.services.live.isDown);
      expect(await healthOf(one)).to.deep.equal([200, 'degraded', true, false]);
      expect(await healthOf(two)).to.deep.equal([200, 'ok', true, true]);
      expect(await metricOf(one, 'gw2api_live_up')).to.equal(0);
      await two.gateway.services.store.keys.update('team', { revokedAtMs: Date.now() });
      two.gateway.services.keysChanged();
      await eventually(async () => (await statusOf(one, key)) === 401); // by its own question to the store
      redis.forward();
      await eventually(() => !one.gateway.services.live.isDown);
      expect(await healthOf(one)).to.deep.equal([200, 'ok', true, true]);
      expect(await metricOf(one, 'gw2api_live_up')).to.equal(1);
    });

  for (const [how, harm] of [
    ['gone', () => postgres.cut()],
    ['frozen', () => postgres.freeze()],
  ] as const)
    it(`go on with PostgreSQL ${how}, quickly, say so, and lose no row`, async () => {
      const key = await issueKey(one, 'team');
      expect(await statusOf(one, key)).to.equal(200);
      await one.gateway.services.ledger.flush();
      harm();
      expect(await statusOf(one, key)).to.equal(200);
      await eventually(() => one.gateway.services.store.isDown);
      const headers = { 'x-api-key': key };
      for (let at = 0; at < 5; at += 1) {
        const session = { ...headers, 'x-session-id': `session ${at}` };
        const tookMs = await livedMs(async () => {
          expect(await one.post('/v1/messages', ask('Hello!'), session)).to.have.property('status', 200);
        });
        expect(tookMs).to.be.below(400);
      }
      expect(await statusOf(one, 'sk-gw-unknown')).to.equal(503);
      expect(await healthOf(one)).to.deep.equal([200, 'degraded', false, true]);
      expect(await metricOf(one, 'gw2api_store_up')).to.equal(0);
      await one.gateway.services.ledger.flush();
      expect(await metricOf(one, 'gw2api_ledger_rows_waiting')).to.be.at.least(5);
      postgres.forward();
      await eventually(() => isUp(one.gateway.services).store);
      expect(await healthOf(one)).to.deep.equal([200, 'ok', true, true]);
      const { rows } = await two.gateway.services.store.ledger.requests({ keyId: 'team' }, { limit: 100 });
      expect(rows).to.have.lengthOf(7);
      expect(await metricOf(one, 'gw2api_ledger_rows_waiting')).to.equal(0);
    }).timeout(30_000);
}

function proxyOf(url: string, port: number): Promise<TcpProxy> {
  const { hostname, port: given } = new URL(url);
  return TcpProxy.start(hostname, Number(given || port));
}
