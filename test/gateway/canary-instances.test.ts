import path from 'node:path';
import { expect } from 'chai';
import { MemoryHub } from '#src/live/memory/hub.js';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/simulator.js';
import { eventually } from '../eventually.js';
import { ownRedis, redisUrl } from '../live/redis-server.js';
import { ProcessWorkshop, type GatewayProcess, type LogLine } from './gateway-process.js';
import { ask, configOf, masterKey, slotAt, stages, startGateway, type GatewayUnderTest } from './harness.js';
import { TempFolders, writeIn } from './temp-folders.js';

const mark = `export default {
  name: 'mark',
  options: { type: 'object', properties: { tag: { type: 'string' }, fails: { type: 'boolean' } } },
  setup: ({ tag, fails }) => async (ctx, next) => {
    ctx.set('x-mark', tag);
    if (fails) ctx.throw(400, 'It fails.');
    await next();
  },
};
`;

/** The stage, which cannot be set up with the options of the canary. */
const broken = mark.replace('=> async', "=> tag === 'new' ? undefined.broken : async");

interface Canary {
  readonly state: string;
  readonly candidate: { readonly requests: number };
  readonly control: { readonly requests: number };
}

/** Calls of a gateway at `url`. */
function callerOf(url: string) {
  const headers = { 'x-api-key': masterKey, 'content-type': 'application/json', connection: 'close' };
  return {
    async change(end: string): Promise<number> {
      return (await fetch(`${url}/admin/reload${end}`, { method: 'POST', headers })).status;
    },
    async canary(): Promise<Canary | null> {
      const answer = await fetch(`${url}/admin/reload`, { headers });
      return ((await answer.json()) as { canary: Canary | null }).canary;
    },
    /** Marks of so many sessions, each by a connection of its own. */
    marks(count: number, name = 'session'): Promise<(string | null)[]> {
      const one = async (at: number) => {
        const body = JSON.stringify(ask('Hi'));
        const own = { ...headers, 'x-session-id': `${name} ${at}` };
        const response = await fetch(`${url}/v1/messages`, { method: 'POST', headers: own, body });
        await response.text();
        return response.headers.get('x-mark');
      };
      return Promise.all(Array.from({ length: count }, (_, at) => one(at)));
    },
  };
}

type Caller = ReturnType<typeof callerOf>;

function withMark(options: object, config: object): object {
  return configOf({ pipeline: [{ use: './mark.js', with: options }, ...stages()], ...config });
}

function describeTwo(live: () => (at: number) => Readonly<Record<string, unknown>>): void {
  const folders = new TempFolders();
  let simulator: Simulator;
  let gateways: GatewayUnderTest[] = [];
  let files: string[] = [];
  let one: Caller;
  let two: Caller;

  beforeEach(async () => {
    simulator = await startSimulator();
    const connect = live();
    gateways = [];
    files = [];
    for (const at of [0, 1]) {
      const folder = await folders.make({ 'mark.js': mark });
      files.push(folder);
      const { config = {}, ...options } = connect(at);
      settings = config as object;
      await write(folder, { tag: 'old' });
      gateways.push(await startGateway(`${folder}/gateway.yaml`, {}, Date.now, options));
    }
    [one, two] = gateways.map(({ url }) => callerOf(url)) as [Caller, Caller];
  });
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.close()));
    await simulator.close();
    await folders.remove();
  });

  let settings: object = {};
  const write = (folder: string, options: object) =>
    writeIn(folder, 'gateway.yaml', withMark(options, { slots: [slotAt(simulator.url)], ...settings }));

  async function startBoth(options: object): Promise<void> {
    for (const folder of files) await write(folder, options);
    for (const caller of [one, two]) expect(await caller.change('?canary=50')).to.equal(200);
  }

  it('gives a session the same side at both, and counts it once', async () => {
    await startBoth({ tag: 'new' });
    const marks = await one.marks(40);
    expect(new Set(marks)).to.deep.equal(new Set(['old', 'new']));
    expect(await two.marks(40)).to.deep.equal(marks);
    for (const caller of [one, two])
      await eventually(async () => {
        const { candidate, control } = (await caller.canary())!;
        return candidate.requests + control.requests === 80;
      });
  });

  it('is given up at both by what they have seen together, and the next one is another', async () => {
    await startBoth({ tag: 'new', fails: true });
    for (let round = 0; round < 20 && (await two.canary())!.state === 'running'; round += 1)
      await Promise.all([one.marks(40, `one ${round}`), two.marks(40, `two ${round}`)]);
    for (const caller of [one, two])
      await eventually(async () => (await caller.canary())!.state === 'given_up');
    const recorded = async () => {
      const stores = gateways.map(({ gateway }) => gateway.services.store.audit);
      const pages = stores.map((audit) => audit.page({ action: 'canary.give_up' }, { limit: 10 }));
      return (await Promise.all(pages)).flatMap(({ entries }) => entries);
    };
    await eventually(async () => (await recorded()).length > 0);
    expect(new Set(await two.marks(20))).to.deep.equal(new Set(['old']));
    await startBoth({ tag: 'newest' });
    expect(await two.canary()).to.deep.include({ state: 'running' });
    const [entry, ...more] = await recorded();
    expect(more).to.deep.equal([]);
    expect(entry).to.deep.include({ actor: { kind: 'system', name: 'canary' }, outcome: 'done' });
    expect(entry!.after).to.include({ percent: 50 }).and.to.include.keys('candidate', 'control');
  });
}

describe('a canary at two gateways that share what they know', () => {
  describeTwo(() => {
    const hub = new MemoryHub({ now: Date.now });
    return () => ({ live: hub.connect() });
  });
});

describe('a canary at two gateways on one Redis', () => {
  if (redisUrl === undefined) return it('is tested where GW_TEST_REDIS_URL names a server');
  const server = redisUrl;
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(() => Promise.all(ends.splice(0).map((end) => end())));
  describeTwo(() => {
    const { where, remove } = ownRedis(server);
    ends.push(remove);
    return () => ({ config: { live: where } });
  });
  return undefined;
});

describe('a canary of several workers', () => {
  const shop = new ProcessWorkshop();
  let folder = '';
  let gateway: GatewayProcess;
  let caller: Caller;
  afterEach(() => shop.end());

  const write = (options: string | object, more: object = {}) =>
    writeIn(
      folder,
      'gateway.yaml',
      withMark(typeof options === 'string' ? { tag: options } : options, {
        slots: [{ id: 'a', upstream: 'simulator' }],
        listen: { host: '127.0.0.1', port: 0, workers: 2 },
        store: 'sqlite:./store.sqlite',
        ...more,
      }),
    );

  beforeEach(async () => {
    folder = await shop.folder({ 'mark.js': mark });
    await write('old');
    gateway = await shop.start({
      args: ['--config', path.join(folder, 'gateway.yaml')],
      env: { GW2API_API_KEY: masterKey },
    });
    caller = callerOf(await gateway.url());
  });

  it('has the same sides in all of them, also in one that replaces another, and is taken by all', async () => {
    await write('new');
    expect(await caller.change('?canary=50')).to.equal(200);
    const marks = await caller.marks(40);
    expect(new Set(marks)).to.deep.equal(new Set(['old', 'new']));
    expect(await caller.marks(40)).to.deep.equal(marks);

    const { pid } = await gateway.line((line) => line['worker'] === 1, 'a line of the first worker');
    process.kill(Number(pid), 'SIGKILL');
    await gateway.log('A replacement worker is serving.');
    for (let time = 0; time < 3; time += 1) expect(await caller.marks(40)).to.deep.equal(marks);
    expect(await caller.canary()).to.include({ state: 'running' });

    expect(await caller.change('/commit')).to.equal(200);
    expect(new Set(await caller.marks(40))).to.deep.equal(new Set(['new']));
    expect(await caller.change('/commit')).to.equal(409);
  });

  /** Kills a worker, and waits until its replacement serves. */
  async function replace(worker: number): Promise<void> {
    const isBack = (line: LogLine) =>
      line['worker'] === worker && line.msg === 'A replacement worker is serving.';
    const { pid } = await gateway.line((line) => line['worker'] === worker, 'a line of the worker');
    process.kill(Number(pid), 'SIGKILL');
    await gateway.line(isBack, 'the line of its replacement');
  }

  it('is not joined by a new worker once it was given up', async () => {
    await write({ tag: 'new', fails: true });
    expect(await caller.change('?canary=50')).to.equal(200);
    for (let round = 0; round < 30 && (await caller.canary())!.state === 'running'; round += 1)
      await caller.marks(40, `round ${round}`);
    await gateway.line(({ msg }) => msg.startsWith('The canary was given up'));
    await replace(1);
    for (let time = 0; time < 3; time += 1)
      expect(new Set(await caller.marks(40, `after ${time}`))).to.deep.equal(new Set(['old']));
    expect(await caller.change('/commit')).to.equal(409);
  });

  it('is taken also by a worker that could not join it', async () => {
    await write('new');
    expect(await caller.change('?canary=50')).to.equal(200);
    await writeIn(folder, 'mark.js', broken);
    await replace(1);
    await gateway.log('The canary of the other workers could not be joined.');
    await writeIn(folder, 'mark.js', mark);
    await replace(2);
    expect(await caller.change('/commit')).to.equal(200);
    expect(new Set(await caller.marks(40))).to.deep.equal(new Set(['new']));
  });

  it('is refused, cancelled and replaced in all of them', async () => {
    await write('new', { slots: [{ id: 'b', upstream: 'simulator' }] });
    expect(await caller.change('?canary=50')).to.equal(409);
    expect(await caller.change('/cancel')).to.equal(409);
    await write('new');
    expect(await caller.change('?canary=50')).to.equal(200);
    expect(await caller.change('/cancel')).to.equal(200);
    expect(new Set(await caller.marks(40))).to.deep.equal(new Set(['old']));
    expect(await caller.change('?canary=50')).to.equal(200);
    expect(await caller.change('')).to.equal(200);
    expect(new Set(await caller.marks(40))).to.deep.equal(new Set(['new']));
  });
});
