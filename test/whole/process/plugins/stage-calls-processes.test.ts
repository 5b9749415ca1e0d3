import path from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../../eventually.js';
import { ownRedis, redisUrl } from '../../../state/live/redis-server.js';
import { PanelClient } from '../../console/panel-client.js';
import { configOf, masterKey, slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import { TempFolders } from '../../temp-folders.js';
import { answered, endProcesses, pidOf, workshop, type Answer } from '../workers/workers.js';
import { callingPipeline, type CallRow } from './calling-stage.js';

/** Calls for the request, or for the key that it names; says what came of the call. */
const calling = `
  const keyId = ctx.headers['x-bill'];
  const given = keyId ? { billTo: keyId, label: 'free' } : { ctx, label: 'guard' };
  const { code = 'answered' } = await host.call(ask('Is it harmless?'), given).catch((error) => error);
  ctx.set('x-call', code);`;

/** A gateway in several processes, or several gateways with the same data. */
interface Group {
  /** Addresses that a request may go to. */
  readonly urls: readonly [string, string];
  readonly upstream: HeldUpstream;
  /** Checks that these answers have come from all processes; absent: the addresses say so. */
  readonly haveAllAnswered?: (answers: readonly Answer[]) => Promise<void>;
}

const resultOf = ({ response }: Answer) => [response.statusCode, response.headers['x-call']];

async function issue(url: string, name: string): Promise<{ readonly id: string; readonly key: string }> {
  return (await new PanelClient(url).ask('POST', '/keys', { name, max_concurrent: 1 })) as {
    id: string;
    key: string;
  };
}

/** Requests with a key, some at each address, all of which are refused. */
async function areRefused({ urls, haveAllAnswered }: Group, key: string): Promise<void> {
  const answers: Answer[] = [];
  for (const url of [...urls, ...urls]) answers.push(await answered(url, 'Hi', { 'x-api-key': key }));
  expect(answers.map(({ response }) => response.statusCode)).to.deep.equal([429, 429, 429, 429]);
  await haveAllAnswered?.(answers);
}

/** A call for a request is part of its place in `maxConcurrent`, wherever the next request comes to. */
async function sharesPlace(group: Group): Promise<void> {
  const { urls, upstream } = group;
  const { key } = await issue(urls[0], 'narrow');
  const whole = answered(urls[0], 'Hi', { 'x-api-key': key });
  const call = await upstream.next();
  expect(call.text).to.include('Is it harmless?');
  await areRefused(group, key);
  call.finish();
  (await upstream.next()).finish();
  expect(resultOf(await whole)).to.deep.equal([200, 'answered']);
  const rows = await rowsOf(urls[1], '?label=guard', 1);
  const [{ parent }] = rows as [CallRow];
  expect(parent).to.be.a('string');
  expect(await rowsOf(urls[0], `?parent=${parent}`, 1)).to.deep.equal(rows);
  const request = (await new PanelClient(urls[1]).get(`/requests/${parent}`)) as CallRow;
  expect(request).to.include({ label: null, parent: null, status: 200, request_id: rows[0]!.request_id });
}

/** A call by `billTo` takes a place of its key, which neither a request nor another call has then. */
async function takesPlace(group: Group): Promise<void> {
  const { urls, upstream } = group;
  const { id, key } = await issue(urls[0], 'billed');
  const headers = { 'x-api-key': masterKey, 'x-bill': id };
  const first = answered(urls[0], 'Hi', headers);
  const call = await upstream.next();
  await areRefused(group, key);
  const second = answered(urls[1], 'Hi', headers);
  (await upstream.next()).finish();
  expect(resultOf(await second)).to.deep.equal([200, 'rate_limited']);
  call.finish();
  (await upstream.next()).finish();
  expect(resultOf(await first)).to.deep.equal([200, 'answered']);
  const rows = await rowsOf(urls[1], '?label=free', 2);
  const shown = rows.map(({ parent, status, key: by }) => `${parent} ${status} ${by?.id}`);
  expect(shown.toSorted()).to.deep.equal([`null 200 ${id}`, `null 429 ${id}`]);
}

/** Rows of the ledger, once there are as many. */
async function rowsOf(url: string, query: string, count: number): Promise<readonly CallRow[]> {
  let rows: readonly CallRow[] = [];
  await eventually(async () => {
    ({ data: rows } = (await new PanelClient(url).get(`/requests${query}`)) as { data: readonly CallRow[] });
    return rows.length >= count;
  });
  expect(rows).to.have.length(count);
  return rows;
}

function keepPlaces(group: () => Group): void {
  it('share the place of their request, and have rows that name it', () => sharesPlace(group()));
  it('by billTo take a place of their key, and have rows without a parent', () => takesPlace(group()));
}

describe('calls of stages over several workers', function () {
  endProcesses(this);
  const folders = new TempFolders();
  let group: Group;

  beforeEach(async () => {
    const upstream = await startHeldUpstream();
    const config = configOf({
      listen: { host: '127.0.0.1', port: 0, workers: 2, shutdownTimeout: '2s' },
      pipeline: await callingPipeline(folders, calling),
      slots: [slotAt(upstream.url)],
      store: 'sqlite:./gateway.db',
    });
    const cwd = await workshop.folder({ 'gateway.yaml': config });
    const args = ['--config', path.join(cwd, 'gateway.yaml')];
    const gateway = await workshop.start({ cwd, args, env: { GW2API_API_KEY: masterKey } });
    const url = await gateway.url();
    group = {
      urls: [url, url],
      upstream,
      async haveAllAnswered(answers) {
        const pids = await Promise.all(answers.map((answer) => pidOf(gateway, answer)));
        expect(new Set(pids).size).to.equal(2);
      },
    };
  });
  afterEach(async () => {
    await group.upstream.close();
    await folders.remove();
  });

  keepPlaces(() => group);
});

describe('calls of stages at two gateways on one Redis', () => {
  if (redisUrl === undefined) return it('are tested where GW_TEST_REDIS_URL names a server');
  const server = redisUrl;
  const folders = new TempFolders();
  const ends: (() => Promise<unknown>)[] = [];
  let group: Group;

  beforeEach(async () => {
    const upstream = await startHeldUpstream();
    const { where, remove } = ownRedis(server);
    const folder = await folders.make({});
    const config = {
      pipeline: await callingPipeline(folders, calling),
      slots: [slotAt(upstream.url)],
      store: `sqlite:${folder}/gateway.db`,
      live: where,
    };
    const gateways: GatewayUnderTest[] = [await startGateway(config), await startGateway(config)];
    const [one, two] = gateways as [GatewayUnderTest, GatewayUnderTest];
    ends.push(
      () => upstream.close(),
      ...gateways.map((gateway) => () => gateway.close()),
      remove,
      () => folders.remove(),
    );
    await eventually(() => gateways.every(({ gateway }) => gateway.services.live.instances === 2));
    group = { urls: [one.url, two.url], upstream };
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  keepPlaces(() => group);
  return undefined;
});
