import { join } from 'node:path';
import { expect } from 'chai';
import type { Live } from '#src/plugin/contract/live.js';
import { fakeHost } from '@gw2api/gateway/testing';
import { MemoryHub } from '#src/state/live/memory/hub.js';
import { openRedis, ownRedis, redisUrl } from '../../state/live/redis-server.js';
import { ask, masterKey, slotAt, startGateway, type GatewayUnderTest } from '../harness.js';
import { startHeldUpstream, type HeldUpstream } from '../held-upstream.js';
import { errorIn } from '../kit.js';
import { followRequests } from './live-requests.js';
import { PanelClient } from './panel-client.js';
import { TempFolders } from '../temp-folders.js';
import { copyMigrated } from '../../state/store/stores.js';

interface Meeting {
  connect(): Promise<Live>;
  end(): Promise<void>;
}

async function inMemory(): Promise<Meeting> {
  const hub = new MemoryHub();
  return { connect: async () => hub.connect(), end: async () => undefined };
}

async function inRedis(): Promise<Meeting> {
  const place = ownRedis(redisUrl!);
  const { log } = fakeHost();
  return {
    connect: () => openRedis(place.where, { log, now: Date.now }),
    end: async () => place.remove?.(),
  };
}

for (const [where, meet] of [
  ['memory', inMemory],
  ...(redisUrl === undefined ? [] : [['Redis', inRedis] as const]),
] as const)
  describe(`the panels of two gateways that meet in ${where}`, () => {
    const folders = new TempFolders();
    let meeting: Meeting;
    let upstream: HeldUpstream;
    let one: GatewayUnderTest;
    let two: GatewayUnderTest;

    beforeEach(async () => {
      [meeting, upstream] = await Promise.all([meet(), startHeldUpstream()]);
      const file = join(await folders.make(), 'gateway.db');
      await copyMigrated(file);
      const store = `sqlite:${file}`;
      const config = { slots: [slotAt(upstream.url)], store };
      one = await startGateway(config, {}, Date.now, { live: await meeting.connect() });
      two = await startGateway(config, {}, Date.now, { live: await meeting.connect() });
      await allKnown();
    });
    afterEach(async () => {
      await Promise.all([one.close(), two.close()]);
      await upstream.close();
      await meeting.end();
    });
    after(() => folders.remove());

    /** Each has heard of the other. */
    async function allKnown(): Promise<void> {
      while ([one, two].some(({ gateway }) => (gateway.services.live.instances ?? 2) < 2)) await turn();
    }

    async function send(gateway: GatewayUnderTest, requestId: string): Promise<void> {
      const answered = gateway.post('/v1/messages', ask('Hello!'), { 'x-request-id': requestId });
      (await upstream.next()).finish();
      await (await answered).text();
    }

    it('show the requests that end on the other one, and each of them with its details at once', async () => {
      const live = await followRequests(one.url);
      while (two.gateway.services.live.shared.entries('requests/watched/').length === 0) await turn();
      await send(two, 'there');
      const told = await live.next();
      expect(told).to.include({ request_id: 'there', status: 200 });
      const shown = await new PanelClient(one.url).get(`/requests/${told.id}`);
      expect(shown).to.deep.include(told);
      expect(shown.calls).to.have.length(1);
      await send(one, 'here');
      expect((await live.next()).request_id).to.equal('here');
      await live.leave();
    });

    it('know after a moment that there is no such request anywhere', async () => {
      const response = await new PanelClient(one.url).fetch('GET', '/requests/1.x');
      expect(await errorIn(response)).to.include({ status: 404, code: 'not_found' });
    });

    it('count the requests under way on both', async () => {
      const answered = [one, two, two].map((gateway) => gateway.post('/v1/messages', ask('Hello!')));
      const held = [await upstream.next(), await upstream.next(), await upstream.next()];
      for (const { url } of [one, two])
        expect(await new PanelClient(url).get('/status')).to.include({
          requests_in_flight: 3,
          requests_in_flight_instances: 2,
        });
      for (const each of held) each.finish();
      for (const each of answered) await (await each).text();
    });

    it('hold a changed limit of a team at once, where it was changed and on the other one', async () => {
      const here = new PanelClient(one.url);
      const team = await here.ask('POST', '/teams', { name: 'search' });
      const { key } = await here.ask('POST', '/keys', { name: 'laptop', team: team.id });
      const status = async (gateway: GatewayUnderTest) => {
        const answered = gateway.post('/v1/messages', ask('Hello!'), { 'x-api-key': key });
        const first = await Promise.race([answered, upstream.next()]);
        if (!(first instanceof Response)) first.finish();
        const answer = await answered;
        await answer.text();
        return answer.status;
      };
      expect(await status(two)).to.equal(200);
      let stop = (): void => undefined;
      const told = new Promise<unknown>((resolve) => {
        stop = two.gateway.services.live.messages.receive('keys', resolve);
      });
      await here.ask('PATCH', `/teams/${team.id}`, { requests_per_minute: 1 });
      await told;
      stop();
      expect(await status(one)).to.equal(200);
      expect(await status(two)).to.equal(429);
    });

    it('hold a changed pipeline of a key and of a team at once, where it was changed and on the other one', async () => {
      const here = new PanelClient(one.url);
      const team = await here.ask('POST', '/teams', { name: 'search' });
      const { id, key } = await here.ask('POST', '/keys', { name: 'laptop', team: team.id });
      const known = (gateway: GatewayUnderTest) => gateway.gateway.services.keys.check(key);
      for (const gateway of [one, two]) await known(gateway);
      const change = async (path: string) => {
        let stop = (): void => undefined;
        const told = new Promise<unknown>((resolve) => {
          stop = two.gateway.services.live.messages.receive('keys', resolve);
        });
        await here.ask('PATCH', path, { pipeline: 'default' });
        await told;
        stop();
      };
      await change(`/teams/${team.id}`);
      for (const gateway of [one, two])
        expect(await known(gateway)).to.have.nested.property('team.pipeline', 'default');
      await change(`/keys/${id}`);
      for (const gateway of [one, two])
        expect(await known(gateway)).to.have.nested.property('key.pipeline', 'default');
    });

    it('refuse an address that was wrong five times at both together', async () => {
      const logIn = (gateway: GatewayUnderTest, password: string) =>
        gateway.post('/api/panel/login', { password }, { 'x-api-key': '' });
      const statuses: number[] = [];
      for (const gateway of [one, two, one, two, one, two])
        statuses.push((await logIn(gateway, 'wrong')).status);
      expect(statuses).to.deep.equal([401, 401, 401, 401, 401, 429]);
      expect(await logIn(two, masterKey)).to.have.property('status', 429);
    });
  });

const turn = () => new Promise((resolve) => void setImmediate(resolve));
