import { expect } from 'chai';
import * as fc from 'fast-check';
import { stringify } from 'yaml';
import { diffConfigs } from '#src/config/diff/diff-configs.js';
import type { ConfigDiff } from '#src/config/diff/config-diff.js';
import type { LoadedConfig } from '#src/config/diff/loaded-config.js';
import { loadConfig } from '#src/config/load.js';
import { loadGatewayConfig } from '#src/gateway/load-config.js';
import { loadPlugins } from '#src/gateway/reload/loaded-config.js';
import { stages } from '../../whole/harness.js';

type Fields = Readonly<Record<string, unknown>>;

const simulator = { id: 'a', upstream: 'simulator' };

async function load(config: Fields, env: Readonly<Record<string, string>> = {}) {
  const text = stringify({ pipeline: stages(), slots: [simulator], ...config });
  return loadPlugins(await loadGatewayConfig({ text, file: 'gateway.yaml', env }));
}

async function diff(before: Fields, after: Fields, env: Readonly<Record<string, string>> = {}) {
  return diffConfigs(await load(before, env), await load(after, env));
}

const nothing: ConfigDiff = {
  stages: [],
  pipelines: [],
  formats: [],
  slots: [],
  models: [],
  settings: [],
  restart: [],
};

/** The default pipeline with one entry in place of that of its plugin. */
function withStage(entry: { readonly use: string } & Fields): Fields {
  return {
    pipeline: stages().map((stage) => ((stage as { use: string }).use === entry.use ? entry : stage)),
  };
}

describe('the difference between two configs', () => {
  it('is empty between a config and one that writes its defaults out', async () => {
    const written = {
      ...withStage({ use: 'body-limit', enabled: true, with: { limit: '128mb' }, onError: 'fail', when: {} }),
      listen: { port: 8787, drainDelay: '0ms', shutdownTimeout: '0.5m' },
      formats: ['messages', 'chat', 'responses', 'completions'],
      slots: [{ ...simulator, weight: 1, models: '*', connectTimeout: '10s', account: { kind: 'none' } }],
      ledger: { keepDays: 90 },
      live: 'memory',
    };
    expect(await diff({}, written)).to.deep.equal(nothing);
  });

  it('is empty between two ways to write a size, a duration or a share', async () => {
    const size = (limit: string | number, timeout: string) =>
      withStage({ use: 'body-limit', with: { limit }, timeout });
    const sample = (share: string) => withStage({ use: 'cache-ttl', when: { sample: share } });
    expect(await diff(size('1MB', '1m'), size(1_048_576, '60s'))).to.deep.equal(nothing);
    expect(await diff(sample('5%'), sample('5.0 %'))).to.deep.equal(nothing);
    expect((await diff(size('1MB', '1m'), size('2mb', '1m'))).stages[0]?.settings).to.deep.equal([
      { path: 'with.limit', change: 'changed', before: '1MB', after: '2mb' },
    ]);
    expect((await diff(sample('5%'), sample('6%'))).stages[0]?.settings).to.deep.equal([
      { path: 'when.sample', change: 'changed', before: '5%', after: '6%' },
    ]);
  });

  it('has an option by its path, with the default where a config does not write it', async () => {
    const [change] = (await diff({}, withStage({ use: 'body-limit', with: { limit: '1mb' } }))).stages;
    expect(change).to.deep.equal({
      name: 'body-limit',
      change: 'changed',
      settings: [{ path: 'with.limit', change: 'changed', before: '128mb', after: '1mb' }],
    });
  });

  it('has conditions, limits of time and what an error does', async () => {
    const entry = { use: 'cache-ttl', when: { not: { stream: true } }, timeout: '2s', onError: 'skip' };
    expect((await diff({}, withStage(entry))).stages[0]?.settings).to.deep.equal([
      { path: 'when.not.stream', change: 'added', after: true },
      { path: 'timeout', change: 'added', after: '2s' },
      { path: 'onError', change: 'changed', before: 'fail', after: 'skip' },
    ]);
  });

  it('says of a new stage what is not its default, and tells two of one plugin apart', async () => {
    const entries = [...stages(), { use: 'max-tokens', with: { cap: 10 } }];
    const sorted = entries.toSorted((a, b) => order(a) - order(b));
    expect((await diff({}, { pipeline: sorted })).stages).to.deep.equal([
      {
        name: 'max-tokens#2',
        change: 'added',
        settings: [{ path: 'with.cap', change: 'added', after: 10 }],
      },
    ]);
    expect((await diff({ pipeline: sorted }, {})).stages).to.deep.equal([
      { name: 'max-tokens#2', change: 'removed', settings: [] },
    ]);
  });

  it('calls a stage moved that stands elsewhere, and no other', async () => {
    const uses = stages();
    const moved = [...uses.slice(0, 4), uses[7]!, ...uses.slice(4, 7), ...uses.slice(8)];
    expect((await diff({}, { pipeline: moved })).stages).to.deep.equal([
      {
        name: 'max-tokens',
        change: 'changed',
        moved: { was: 'tool-choice', now: 'rate-limit' },
        settings: [],
      },
    ]);
  });

  it('calls a stage switched off, and one switched on with the options that come into force', async () => {
    const on = withStage({ use: 'max-tokens', with: { cap: 10 } });
    const off = withStage({ use: 'max-tokens', enabled: false, with: { cap: 10 } });
    const change = (before: boolean) => [
      { path: 'enabled', change: 'changed', before, after: !before },
      ...(before ? [] : [{ path: 'with.cap', change: 'changed', before: 128_000, after: 10 }]),
    ];
    expect((await diff(on, off)).stages.map(({ settings }) => settings)).to.deep.equal([change(true)]);
    expect((await diff(off, on)).stages.map(({ settings }) => settings)).to.deep.equal([change(false)]);
    expect(await diff(off, off)).to.deep.equal(nothing);
    const others = withStage({ use: 'max-tokens', enabled: false, with: { cap: 11 } });
    expect((await diff(off, others)).stages.map(({ settings }) => settings)).to.deep.equal([
      [{ path: 'with.cap', change: 'changed', secret: true }],
    ]);
  });

  it('has stages that become alternatives, and not the numbers of entries below a new one', async () => {
    const oneOf = [{ use: 'tool-choice', when: { stream: true } }, { use: 'max-tokens' }];
    const others = stages({ without: ['tool-choice', 'max-tokens'] });
    const at = (index: number) => ({ pipeline: others.toSpliced(index, 0, { oneOf }) });
    const settings = (await diff({}, at(6))).stages.flatMap((stage) =>
      stage.settings.map(({ path }) => `${stage.name} ${path}`),
    );
    expect(settings).to.deep.equal(['tool-choice oneOf', 'tool-choice when.stream', 'max-tokens oneOf']);
    const shorter = { pipeline: others.filter((_, index) => index !== 5).toSpliced(5, 0, { oneOf }) };
    expect((await diff(at(6), shorter)).stages).to.deep.equal([
      { name: 'web-search-tool', change: 'removed', settings: [] },
    ]);
  });

  it('shows no secret, and nothing of the environment', async () => {
    const slot = (key: string, password: string, header: string) => ({
      id: 'a',
      upstream: 'messages',
      baseUrl: `https://user:${password}@upstream.example`,
      account: { kind: 'api-key', key },
      proxy: 'http://${EGRESS}.example',
      headers: { 'x-extra': header },
    });
    const before = { slots: [slot('SECRET-1', 'SECRET-2', 'SECRET-3')], store: 'postgres://u:SECRET-4@a/b' };
    const after = {
      slots: [slot('SECRET-5', 'SECRET-6', 'SECRET-7'), { ...slot('SECRET-8', 'x', 'SECRET-9'), id: 'b' }],
      store: 'postgres://u:SECRET-0@a/b',
    };
    const changes = await diff(before, after, { EGRESS: 'SECRET-E' });
    expect(JSON.stringify(changes)).not.to.include('SECRET');
    expect(changes.slots[0]?.settings).to.deep.equal([
      { path: 'baseUrl', change: 'changed', secret: true },
      { path: 'account.key', change: 'changed', secret: true },
      { path: 'headers.x-extra', change: 'changed', secret: true },
    ]);
    expect(changes.slots[1]?.settings).to.deep.include({
      path: 'proxy',
      change: 'added',
      after: 'http://${EGRESS}.example',
    });
    expect(changes.settings).to.deep.equal([
      { path: 'store', change: 'changed', secret: true, restart: true },
    ]);
  });

  it('has no header for the collector', async () => {
    const before = {
      telemetry: { otlp: 'http://u:SECRET@one:4318', headers: { authorization: 'SECRET-1' } },
    };
    const after = { telemetry: { otlp: 'http://u:SECRET@two:4318', headers: { authorization: 'SECRET-2' } } };
    const { settings, restart } = await diff(before, after);
    expect(JSON.stringify(settings)).not.to.include('SECRET');
    expect(settings.map(({ path }) => path)).to.deep.equal([
      'telemetry.otlp',
      'telemetry.headers.authorization',
    ]);
    expect(restart).to.deep.equal(['telemetry']);
  });

  it('has what needs a restart, and what a reload takes', async () => {
    const before = {
      listen: { port: 1, drainDelay: '1s', webSockets: { maxAge: '1h' } },
      console: { allowLinkLocal: false },
    };
    const after = {
      listen: { port: 2, drainDelay: '2s', webSockets: { maxAge: '30m' } },
      console: { allowLinkLocal: true },
    };
    const { settings, restart } = await diff(before, { ...after, live: 'redis://u:SECRET@cache/3' });
    expect(restart).to.deep.equal(['listen', 'live']);
    expect(settings).to.deep.equal([
      { path: 'listen.port', change: 'changed', before: 1, after: 2, restart: true },
      { path: 'listen.drainDelay', change: 'changed', before: '1s', after: '2s' },
      { path: 'listen.webSockets.maxAge', change: 'changed', before: '3600s', after: '1800s', restart: true },
      {
        path: 'live',
        change: 'changed',
        before: 'memory',
        after: 'redis://cache:6379/3 with the prefix gw2api',
        restart: true,
      },
      { path: 'console.allowLinkLocal', change: 'changed', before: false, after: true },
    ]);
  });

  it('shows the servers of a shared state as the file has them, without their passwords', async () => {
    const live = {
      url: 'redis://:SECRET@cache/0',
      sentinel: { name: 'mymaster', nodes: ['${NODE:-a:1}'], password: 'SECRET' },
    };
    const cluster = { url: 'redis://:SECRET@cache', cluster: ['a:1', 'b:2'] };
    const { settings } = await diff({ live }, { live: cluster });
    expect(settings).to.deep.equal([
      {
        path: 'live',
        change: 'changed',
        before: 'redis://***@cache/0 of mymaster by the sentinels ${NODE:-a:1}',
        after: 'redis://***@cache of a:1, b:2',
        restart: true,
      },
    ]);
    const other = { ...live, sentinel: { ...live.sentinel, password: 'OTHER' } };
    expect((await diff({ live }, { live: other })).settings).to.deep.equal([
      { path: 'live', change: 'changed', secret: true, restart: true },
    ]);
  });

  it('has slots, formats and models by their names', async () => {
    const b = { id: 'b', upstream: 'simulator', weight: 2, models: ['haiku-*'] };
    const changes = await diff({ slots: [simulator, b] }, { slots: [b], formats: ['chat', 'messages'] });
    expect(changes.slots).to.deep.equal([{ name: 'a', change: 'removed', settings: [] }]);
    expect(changes.formats.map(({ name, change }) => `${change} ${name}`)).to.deep.equal([
      'removed responses',
      'removed completions',
    ]);
    const [swapped] = (await diff({ slots: [simulator, b] }, { slots: [b, simulator] })).slots;
    expect(swapped).to.have.property('moved');
  });

  it('has nothing of the defaults of a new slot', async () => {
    const { slots } = await diff({ slots: [simulator] }, { slots: [simulator, { ...simulator, id: 'b' }] });
    expect(slots.flatMap(({ settings }) => settings)).to.deep.equal([
      { path: 'upstream', change: 'added', after: 'simulator' },
      { path: 'account.kind', change: 'added', after: 'none' },
    ]);
  });

  it('has the organization of a slot', async () => {
    const { slots } = await diff({ slots: [simulator] }, { slots: [{ ...simulator, organization: 'red' }] });
    expect(slots).to.deep.equal([
      {
        name: 'a',
        change: 'changed',
        settings: [{ path: 'organization', change: 'added', after: 'red' }],
      },
    ]);
  });

  it("has the upstream's names of a slot's models, each by itself", async () => {
    const slot = (models: object) => ({ id: 'a', upstream: 'simulator', models });
    const before = slot({ 'sonnet-5': 'vendor.sonnet-5-v1:0', 'haiku-*': true });
    const after = slot({ 'sonnet-5': 'vendor.sonnet-5-v2:0', 'haiku-*': true });
    const { slots } = await diff({ slots: [before] }, { slots: [after] });
    expect(slots.flatMap(({ settings }) => settings)).to.deep.equal([
      {
        path: 'models.sonnet-5',
        change: 'changed',
        before: 'vendor.sonnet-5-v1:0',
        after: 'vendor.sonnet-5-v2:0',
      },
    ]);
    expect((await diff({ slots: [before] }, { slots: [before] })).slots).to.deep.equal([]);
  });

  it('has the catalog, model by model', async () => {
    const loaded = await load({});
    const [first, ...rest] = loaded.config.models;
    const models = [...rest, { ...first!, maxTokens: 7, sampling: 'one' as const }];
    const changed = { ...loaded, config: { ...loaded.config, models } };
    expect(diffConfigs(loaded, changed).models).to.deep.equal([
      {
        name: first!.id,
        change: 'changed',
        settings: [{ path: 'maxTokens', change: 'changed', before: first!.maxTokens, after: 7 }],
      },
    ]);
    const fewer = { ...loaded, config: { ...loaded.config, models: rest } };
    expect(diffConfigs(fewer, loaded).models).to.deep.equal([
      { name: first!.id, change: 'added', settings: [] },
    ]);
  });
});

/** Where a stage belongs in the default pipeline. */
function order(stage: object): number {
  return stages().findIndex((known) => (known as { use: string }).use === (stage as { use: string }).use);
}

const plugin = fc.record({
  use: fc.constantFrom('one', 'two', 'three', 'four', 'five', 'six'),
  options: fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'toString'), fc.jsonValue()).map(copyOf),
  isOff: fc.boolean(),
});

const base = loadConfig({
  text: stringify({ pipeline: [{ use: 'one' }], slots: [simulator] }),
  file: 'gateway.yaml',
  env: {},
});
const empty = { schema: {}, options: {}, defaults: {} };

interface Made {
  readonly use: string;
  readonly options: Fields;
  readonly isOff: boolean;
}

/** A config of these stages and slots, as it is once it is loaded. */
function made(plugins: readonly Made[], ids: readonly string[], port: number): LoadedConfig {
  const pipeline = plugins.map(({ use, isOff }) => ({ ...base.pipeline[0]!, use, enabled: !isOff }));
  const slots = ids.map((id) => ({ ...base.slots[0]!, id }));
  return {
    config: { ...base, pipeline, slots, listen: { ...base.listen, port } },
    stages: plugins.map(({ use, options, isOff }) => (isOff ? undefined : { ...empty, name: use, options })),
    pipelines: [],
    formats: [],
    slots: ids.map(() => ({
      upstream: { ...empty, name: 'simulator' },
      account: { ...empty, name: 'none' },
    })),
  };
}

const anyConfig = fc
  .record({
    plugins: fc.array(plugin, { minLength: 1, maxLength: 12 }),
    port: fc.integer({ min: 1, max: 3 }),
    ids: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 }),
  })
  .map(({ plugins, ids, port }) => ({
    one: made(plugins, ids, port),
    /** Equal, and shares no options with the first. */
    copy: made(copyOf(plugins), ids, port),
  }));

/** A copy of a JSON value; structuredClone would lose a key `__proto__`. */
function copyOf<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

const opposite = { added: 'removed', removed: 'added', changed: 'changed' } as const;

describe('the difference between any two configs', () => {
  it('is empty between a config and itself', () => {
    fc.assert(
      fc.property(anyConfig, ({ one, copy }) => {
        expect(diffConfigs(one, copy)).to.deep.equal(nothing);
      }),
    );
  });

  it('is the opposite of the other way round', () => {
    fc.assert(
      fc.property(anyConfig, anyConfig, ({ one: before }, { one: after }) => {
        const [there, back] = [diffConfigs(before, after), diffConfigs(after, before)];
        for (const part of ['stages', 'slots'] as const) {
          const told = back[part].map(({ name, change }) => `${opposite[change]} ${name}`);
          const isWhole = there[part].filter(({ moved }) => !moved);
          for (const { name, change } of isWhole)
            if (change !== 'changed') expect(told).to.include(`${change} ${name}`);
        }
        expect(back.restart).to.deep.equal(there.restart);
      }),
    );
  });

  it('moves no more entries than it takes to bring them into their new order', () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const shuffled = fc.shuffledSubarray(ids, { minLength: ids.length, maxLength: ids.length });
    fc.assert(
      fc.property(shuffled, (order) => {
        const config = (uses: readonly string[]) =>
          made(
            uses.map((use) => ({ use, options: {}, isOff: false })),
            [],
            1,
          );
        const { stages: changes } = diffConfigs(config(ids), config(order));
        const moved = new Set(changes.map(({ name }) => name));
        const kept = order.filter((id) => !moved.has(id));
        expect(kept).to.deep.equal(kept.toSorted());
        expect(kept.length).to.equal(longestAscending(order));
      }),
    );
  });

  describe('of named pipelines', () => {
    const red = (...changes: readonly object[]) => ({ pipelines: [{ name: 'red', changes }] });
    const cap = (value: number) => ({
      replace: 'max-tokens',
      by: { use: 'max-tokens', with: { cap: value } },
    });
    const change = (before: number, after: number) => ({
      name: 'max-tokens',
      change: 'changed',
      settings: [{ path: 'with.cap', change: 'changed', before, after }],
    });

    it('names the stages of a new one as the default pipeline does', async () => {
      const { stages: ofDefault, pipelines } = await diff({}, red(cap(10), { remove: 'cache-ttl' }));
      expect(ofDefault).to.deep.equal([]);
      expect(pipelines).to.have.lengthOf(1);
      expect(pipelines[0]).to.include({ name: 'red', change: 'added' });
      expect(pipelines[0]!.stages).to.deep.equal([
        change(128_000, 10),
        { name: 'cache-ttl', change: 'removed', settings: [] },
      ]);
    });

    it('has what changes in one alone, whether its stage was shared or its own', async () => {
      const [own] = (await diff(red(cap(10)), red(cap(20)))).pipelines;
      expect(own).to.deep.equal({ name: 'red', change: 'changed', settings: [], stages: [change(10, 20)] });
      const [shared] = (await diff(red(), red({ set: 'max-tokens', with: { cap: 5 } }))).pipelines;
      expect(shared!.stages).to.deep.equal([change(128_000, 5)]);
    });

    it('leaves out what changes in the default pipeline too, and has a removed one, and its condition', async () => {
      const limit = withStage({ use: 'body-limit', with: { limit: '1mb' } });
      const both = await diff(red(cap(10)), { ...limit, ...red(cap(10)) });
      expect(both.stages.map(({ name }) => name)).to.deep.equal(['body-limit']);
      expect(both.pipelines).to.deep.equal([]);
      expect((await diff(red(cap(10)), {})).pipelines).to.deep.equal([
        { name: 'red', change: 'removed', settings: [], stages: [] },
      ]);
      const [conditional] = (await diff(red(), { pipelines: [{ name: 'red', when: { team: 'red' } }] }))
        .pipelines;
      expect(conditional!.settings).to.deep.equal([{ path: 'when.team', change: 'added', after: ['red'] }]);
    });
  });
});

function longestAscending(order: readonly string[]): number {
  const lengths: number[] = [];
  for (const [at, id] of order.entries())
    lengths.push(1 + Math.max(0, ...lengths.filter((_, below) => order[below]! < id && below < at)));
  return Math.max(...lengths);
}
