import path from 'node:path';
import { expect } from 'chai';
import { openStore } from '#src/state/store/index.js';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { eventually } from '../../../eventually.js';
import { ownFolder, ownPostgres, postgresUrl, quiet } from '../../../state/store/stores.js';
import { ProcessWorkshop } from '../../gateway-process.js';
import { ask, masterKey, slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { clockAt } from '../../../clock-at.js';

interface Report {
  readonly cause: { readonly status: number } | null;
  readonly id: string;
  readonly state: string;
  readonly until: string | null;
  readonly windows: { readonly '5h': { readonly percent_used: number } | null };
}

/** One slot for each state, each with a model of its own where it is to be called. */
function slotsAt(url: string, key = 'upstream-key'): readonly object[] {
  const account = { kind: 'api-key', key };
  return [
    slotAt(url, { id: 'paused', models: ['other-*'] }),
    slotAt(url, { id: 'draining', models: ['other-*'] }),
    slotAt(url, { id: 'rejected', models: ['haiku-5'], account }),
    slotAt(url, { id: 'exhausted', models: ['sonnet-5'], cooldown: { max: '2h' } }),
  ];
}

describe('slots of a gateway that starts again', () => {
  let simulator: Simulator;
  let nowMs: number;
  const workshop = new ProcessWorkshop();
  beforeEach(async () => {
    nowMs = Date.UTC(2026, 0, 1);
    simulator = await startSimulator({ clock: clockAt(() => nowMs) });
  });
  afterEach(async () => {
    await simulator.close();
    await workshop.end();
  });

  const start = (store: string, slots = slotsAt(simulator.url)) =>
    startGateway({ slots, store }, {}, () => nowMs, { secretKey: 'secret' });

  async function reports(under: GatewayUnderTest): Promise<readonly Report[]> {
    const { data } = (await (await under.get('/admin/slots')).json()) as { data: readonly Report[] };
    return data;
  }

  const statesOf = async (under: GatewayUnderTest) => (await reports(under)).map(({ state }) => state);

  async function bringIntoStates(under: GatewayUnderTest): Promise<void> {
    for (const way of ['paused/pause', 'draining/drain'])
      expect((await under.post(`/admin/slots/${way}`, {})).status).to.equal(200);
    const call = (model: string, scenario: string) =>
      under.post('/v1/messages', ask(`[[sim:${scenario}]] Hi`, { model }));
    await (await call('haiku-5', '401')).text();
    const refused = await call('sonnet-5', 'window-exhausted in=7200');
    expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([429, '7200']);
  }

  async function describeRestart(store: string): Promise<void> {
    const before = await start(store);
    await bringIntoStates(before);
    const states = await statesOf(before);
    expect(states).to.deep.equal(['paused', 'draining', 'rejected', 'cooling']);
    const { cause } = (await reports(before))[2]!;
    expect(cause).to.include({ status: 401 });
    const untilBefore = (await reports(before))[3]!.until;
    await before.close();

    nowMs += 3_600_000;
    const after = await start(store);
    expect(await statesOf(after)).to.deep.equal(states);
    const [, , rejected, exhausted] = await reports(after);
    expect(rejected!.cause).to.deep.equal(cause);
    expect(exhausted!.windows['5h']).to.include({ percent_used: 100 });
    const shiftMs = Date.parse(exhausted!.until!) - Date.parse(untilBefore!);
    // PostgreSQL counts lifetimes by its own clock, which the test does not move.
    if (!store.startsWith('postgres')) expect(Math.abs(shiftMs)).to.be.below(60_000);
    const refused = await after.post('/v1/messages', ask('Hi'));
    expect(refused.status).to.equal(429);
    await after.close();

    const mended = await start(store, slotsAt(simulator.url, 'another-key'));
    expect(await statesOf(mended)).to.deep.equal(['paused', 'draining', 'ready', 'cooling']);
    for (const id of ['paused', 'draining', 'exhausted']) await mended.post(`/admin/slots/${id}/resume`, {});
    await mended.close();
    const resumed = await start(store, slotsAt(simulator.url, 'another-key'));
    expect(await statesOf(resumed)).to.deep.equal(['ready', 'ready', 'ready', 'ready']);
    await resumed.close();
  }

  it('are in the states of before, with SQLite', async () => {
    const folder = await ownFolder();
    await describeRestart(`sqlite:${path.join(folder.where, 'gateway.db')}`);
    await folder.remove();
  });

  if (postgresUrl === undefined) it('are tested where GW_TEST_POSTGRES_URL names a server');
  else
    it('are in the states of before, with PostgreSQL', async () => {
      const schema = await ownPostgres(postgresUrl!);
      await describeRestart(schema.where.url);
      await schema.remove();
    });

  it('are so after kill -9 too', async () => {
    const stages = ['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'];
    const config = {
      pipeline: stages.map((use) => ({ use })),
      slots: [{ id: 'a', upstream: 'simulator' }],
      store: 'sqlite:./gateway.db',
    };
    const cwd = await workshop.folder({ 'config/gateway.yaml': JSON.stringify(config) });
    const run = () => workshop.start({ cwd, env: { GW2API_API_KEY: masterKey } });
    const headers = { 'x-api-key': masterKey };
    const gateway = await run();
    const paused = await fetch(`${await gateway.url()}/admin/slots/a/pause`, { method: 'POST', headers });
    expect(paused.status).to.equal(200);
    const store = await openStore({ kind: 'sqlite', file: path.join(cwd, 'gateway.db') }, { log: quiet });
    await eventually(async () => (await store.slotStates.list()).length > 0);
    await store.close();
    gateway.signal('SIGKILL');
    await gateway.ended;
    const again = await run();
    const answer = await fetch(`${await again.url()}/admin/slots`, { headers });
    const { data } = (await answer.json()) as { data: readonly Report[] };
    expect(data.map(({ state }) => state)).to.deep.equal(['paused']);
  });
});
