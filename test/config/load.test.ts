import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { serialize } from 'node:v8';
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { ConfigError } from '#src/config/config.js';
import { loadDotEnv } from '#src/config/environment.js';
import { loadConfig, readConfig, readConfigFile } from '#src/config/load.js';
import { CatalogModels } from '#src/engine/models/models.js';
import { defaultCooldown } from '../default-cooldown.js';

const tail = 'slots: [{ id: a, upstream: simulator }]\n';
const load = (text: string, env: Record<string, string> = {}) =>
  loadConfig({ text: `${text}\n${tail}`, file: 'gateway.yaml', env });

const options = (lines: string, env: Record<string, string> = {}) =>
  load(`pipeline:\n  - use: x\n    with:\n      ${lines}`, env).pipeline[0]!.with;

/** Bytes of a character, as V8 keeps the text and as its serializer tells. */
function bytesOf(text: string): number {
  return String.fromCharCode(serialize(text)[2]!) === '"' ? 1 : 2;
}

describe('loadConfig', () => {
  it('fills in what is left out', () => {
    const config = load('pipeline: [{ use: auth }]');
    expect(config.listen).to.deep.equal({
      host: '0.0.0.0',
      port: 8787,
      workers: 1,
      trustProxy: false,
      aliases: [
        '/anthropic',
        '/api/anthropic',
        '/openai',
        '/api/v1',
        '/v1/v1',
        '//',
        '/openai/deployments',
        '/healthz',
        '/readyz',
        '/health/liveliness',
        '/health/readiness',
      ],
      drainDelayMs: 0,
      shutdownTimeoutMs: 30_000,
      headersTimeoutMs: 30_000,
      bodyIdleTimeoutMs: 30_000,
      callerIdleTimeoutMs: 60_000,
      keepAliveTimeoutMs: 75_000,
      stuckTimeoutMs: 10_000,
      maxConnections: 8192,
      backlog: 4096,
      webSockets: {
        origins: [],
        maxPerKey: 16,
        pingIntervalMs: 30_000,
        idleTimeoutMs: 600_000,
        maxAgeMs: 3_600_000,
      },
    });
    expect(config.slots.map(({ positionOf: _at, isValid: _, ...slot }) => slot)).to.deep.equal([
      {
        id: 'a',
        upstream: 'simulator',
        with: {},
        models: ['*'],
        maxConcurrent: 32,
        weight: 1,
        headers: {},
        connectTimeoutMs: 10_000,
        cooldown: defaultCooldown,
        path: 'slots[0]',
        at: { file: 'gateway.yaml', line: 2, column: 9 },
      },
    ]);
    expect(config).to.deep.include({ live: { kind: 'memory' }, officialClient: { userAgent: '' } });
  });

  it('reads the models of a slot as a list or as a map to the names of its upstream', () => {
    const served = (models: string) => {
      const text = `pipeline: [{ use: auth }]\nslots: [{ id: a, upstream: simulator, models: ${models} }]\n`;
      const [slot] = loadConfig({ text, file: 'gateway.yaml', env: { V: 'v1' } }).slots;
      return [slot!.models, slot!.upstreamModels];
    };
    expect(served('[sonnet-5, "haiku-*"]')).to.deep.equal([['sonnet-5', 'haiku-*'], undefined]);
    expect(served('{ sonnet-5: "vendor.sonnet-5-${V}:0", "haiku-*": true }')).to.deep.equal([
      ['sonnet-5', 'haiku-*'],
      { 'sonnet-5': 'vendor.sonnet-5-v1:0' },
    ]);
    expect(served('{ sonnet-5: true }')).to.deep.equal([['sonnet-5'], undefined]);
  });

  it('keeps its state in a SQLite file of the working directory, unless it says where', () => {
    const storeOf = (line: string) => {
      const { store, ledger } = load(`pipeline: [{ use: auth }]\n${line}`);
      return [store, ledger.spool];
    };
    const data = path.resolve('data');
    expect(storeOf('')).to.deep.equal([{ kind: 'sqlite', file: path.join(data, 'gateway.db') }, data]);
    expect(storeOf('store: sqlite:/var/gw/g.db')).to.deep.equal([
      { kind: 'sqlite', file: '/var/gw/g.db' },
      '/var/gw',
    ]);
    const url = 'postgres://gw@db:5432/gw';
    expect(storeOf(`store: ${url}`)).to.deep.equal([{ kind: 'postgres', url }, data]);
    expect(storeOf(`store: ${url}\nledger: { spool: /spool }`)).to.deep.equal([
      { kind: 'postgres', url },
      '/spool',
    ]);
    expect(storeOf('store: memory')).to.deep.equal([{ kind: 'memory' }, undefined]);
  });

  it('reads a slot with everything', () => {
    const text = `
pipeline: [{ use: auth }]
slots:
  - id: plan
    upstream: messages
    baseUrl: https://upstream.example/
    account: { kind: oauth, accessToken: a, refreshToken: r, tokenUrl: "https://u.example/token", clientId: c, expiresAt: 2026-01-01T00:00:00Z }
    models: "sonnet-*"
    proxy: "http://user:pass@egress-1:3128"
    headers: { X-Extra: "1" }
    connectTimeout: 500ms`;
    const [slot] = loadConfig({ text, file: 'gateway.yaml', env: {} }).slots;
    expect(slot).to.deep.include({
      baseUrl: 'https://upstream.example',
      models: ['sonnet-*'],
      headers: { 'x-extra': '1' },
      connectTimeoutMs: 500,
      cooldown: defaultCooldown,
    });
    expect(slot!.account).to.have.property('expiresAt', '2026-01-01T00:00:00Z');
  });

  it('reads cooldowns, with the defaults of what is left out', () => {
    const text = `
pipeline: [{ use: auth }]
slots: [{ id: a, upstream: simulator, cooldown: { overloaded: { first: 1s }, max: 20m } }]`;
    const [slot] = loadConfig({ text, file: 'gateway.yaml', env: {} }).slots;
    const overloaded = { firstMs: 1000, maxMs: 120_000 };
    expect(slot!.cooldown).to.deep.equal({ ...defaultCooldown, overloaded, maxMs: 1_200_000 });
  });

  for (const [cooldown, problem] of [
    ['{ rateLimited: { first: 11m } }', 'cooldown.rateLimited.first: is longer than max (10m); set'],
    ['{ overloaded: { first: 0s } }', 'cooldown.overloaded.first: must be longer than 0s'],
    ['{ max: 0s }', 'cooldown.max: must be longer than 0s'],
    ['{ unreachable: { first: 2 } }', 'cooldown.unreachable.first: must be a duration'],
    ['{ longest: 1h }', 'cooldown.longest'],
  ] as const) {
    it(`refuses the cooldowns ${cooldown}`, () => {
      const text = `pipeline: [{ use: auth }]\nslots: [{ id: a, upstream: simulator, cooldown: ${cooldown} }]`;
      expect(() => loadConfig({ text, file: 'gateway.yaml', env: {} })).to.throw(problem);
    });
  }

  it('lets PORT and HOST of the environment win', () => {
    const config = load('pipeline: [{ use: auth }]\nlisten: { port: 80, host: localhost }', {
      PORT: '0',
      HOST: '127.0.0.1',
    });
    expect(config.listen).to.include({ port: 0, host: '127.0.0.1' });
  });

  it('reads one word of a condition as a list of one', () => {
    const config = load('pipeline: [{ use: x, when: { format: chat, model: [a, "b-*"] } }]');
    expect(config.pipeline[0]!.when).to.deep.equal({ format: ['chat'], model: ['a', 'b-*'] });
  });

  it('reads all kinds of conditions', () => {
    const config = load(
      'pipeline: [{ use: x, when: { header: { X-Team: red }, stream: false, sample: 12.5%, not: { caller: a } } }]',
    );
    expect(config.pipeline[0]!.when).to.deep.equal({
      header: { 'x-team': ['red'] },
      stream: false,
      sample: 12.5,
      not: { caller: ['a'] },
    });
  });

  it('reads alternatives as stages of one entry, each with its place and what was written', () => {
    const { pipeline } = load(
      'pipeline:\n  - use: x\n  - oneOf:\n      - { use: y, name: first, when: { stream: true }, with: { a: "${A:-1}" } }\n      - use: y',
    );
    const [before, first, last] = pipeline;
    expect(pipeline.map(({ path }) => path)).to.deep.equal([
      'pipeline[0]',
      'pipeline[1].oneOf[0]',
      'pipeline[1].oneOf[1]',
    ]);
    expect(first).to.deep.include({ name: 'first', written: { a: '${A:-1}' }, with: { a: '1' } });
    expect(first!.positionOf(['with', 'a'])).to.include({ line: 4, column: 64 });
    expect(first!.group).to.deep.equal({
      path: 'pipeline[1]',
      at: { file: 'gateway.yaml', line: 3, column: 5 },
      isComplete: true,
    });
    expect(last!.group).to.equal(first!.group);
    expect(before!.group).to.equal(undefined);
  });

  it('does not mind variables of an alternative that is switched off', () => {
    const off = '{ use: y, enabled: false, with: { a: "${NOT_SET}" } }';
    expect(load(`pipeline: [{ oneOf: [${off}, { use: x }] }]`).pipeline[0]!.enabled).to.equal(false);
  });

  it('knows where each part of a stage is written', () => {
    const stage = load('pipeline:\n  - use: x\n    with:\n      list: [1, 2]').pipeline[0]!;
    expect(stage.at).to.include({ line: 2, column: 5 });
    expect(stage.positionOf(['with', 'list', 1])).to.include({ line: 4, column: 17 });
    expect(stage.positionOf(['with', 'absent', 'deep'])).to.include({ line: 3, column: 5 });
  });

  it('keeps no text with two bytes a character that needs one, whatever else the file has', () => {
    const { slots, pipeline } = loadConfig({
      text: `pipeline: [{ use: a-stage, with: { a-field: a text of one byte, 多: 多 } }]\nslots: [{ id: a-slot, upstream: simulator }] # 多`,
      file: 'gateway.yaml',
      env: {},
    });
    const [stage] = pipeline;
    const texts = [slots[0]!.id, stage!.use, ...Object.entries(stage!.with).flat()] as string[];
    expect(texts.map(bytesOf)).to.deep.equal([1, 1, 1, 1, 2, 2]);
  });

  it('takes a config with nothing behind a key as if the key were not there', () => {
    expect(load('pipeline:\n  - use: x\n    with:\n    when:').pipeline[0]).to.deep.include({ with: {} });
  });

  it('does not mind variables of a stage that is switched off', () => {
    const config = load('pipeline: [{ use: x }, { use: y, enabled: false, with: { a: "${NOT_SET}" } }]');
    expect(config.pipeline[1]!.enabled).to.equal(false);
  });
});

describe('substitution', () => {
  it('types what is not in quotes, and only that', () => {
    const env = { N: '5', B: 'true' };
    expect(options('n: ${N}\n      b: ${B}\n      q: "${N}"\n      t: a${N}', env)).to.deep.equal({
      n: 5,
      b: true,
      q: '5',
      t: 'a5',
    });
  });

  it('takes the default where a name is not set or empty, as a shell does', () => {
    expect(options('a: ${A:-1}\n      e: ${E:-2}\n      s: ${S:-3}', { E: '', S: '4' })).to.deep.equal({
      a: 1,
      e: 2,
      s: 4,
    });
  });

  it('leaves digits alone that a number could not hold', () => {
    const digits = '12345678901234567890123';
    expect(options('id: ${ID}', { ID: digits })).to.deep.equal({ id: digits });
  });

  it('never makes structure of a value', () => {
    expect(options('v: ${V}', { V: 'a: {b: 1}\n- c' })).to.deep.equal({ v: 'a: {b: 1}\n- c' });
  });

  it('writes a plain ${ for $${', () => {
    expect(options('v: "$${NAME} ${N}"', { N: '1' })).to.deep.equal({ v: '${NAME} 1' });
  });
});

describe('YAML', () => {
  it('knows anchors and merge keys, the own ones winning', () => {
    const { pipeline } = load(
      'pipeline:\n  - use: x\n    with: &base { a: 1, b: 2 }\n  - use: y\n    with: { b: 3, <<: *base }',
    );
    expect(pipeline[1]!.with).to.deep.equal({ a: 1, b: 3 });
  });

  it('refuses an anchor that contains itself', () => {
    const { problems } = readConfig({ text: `pipeline: &p [*p]\n${tail}`, file: 'f', env: {} });
    expect(problems[0]).to.include({ path: 'pipeline[0]', message: 'contains itself' });
  });
});

describe('readConfig', () => {
  it('gives the pipeline where only something else is wrong, so that all problems can be told at once', () => {
    const reading = readConfig({ text: `pipeline: [{ use: auth }]\nlive: 5\n${tail}`, file: 'f', env: {} });
    expect(reading.config).to.equal(undefined);
    expect(reading.pipeline).to.have.length(1);
  });
});

describe('readConfig, whatever it is given,', () => {
  it('tells problems and never throws', () => {
    const values = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        tie('leaf'),
        fc.array(tie('value')),
        fc.dictionary(names, tie('value')),
      ),
      leaf: fc.oneof(fc.constantFrom(null, 'memory', 'simulator', '${X}', '*', 0, -1, true), fc.string()),
    }));
    fc.assert(
      fc.property(
        fc.oneof(
          values.value.map((value) => JSON.stringify(value)),
          fc.string(),
        ),
        (text) => {
          const { config, problems } = readConfig({ text, file: 'f', env: {} });
          expect(config === undefined).to.equal(problems.length > 0);
        },
      ),
      { numRuns: 100 },
    );
  });
});

/** Keys of a config, and others. */
const names = fc.constantFrom(
  ...'listen port pipeline use with when format slots id upstream account kind models store'.split(' '),
  ...'officialClient userAgent headers proxy live __proto__ << other'.split(' '),
);

describe('files', () => {
  let dir = '';
  beforeEach(async () => void (dir = await mkdtemp(path.join(os.tmpdir(), 'gw2api-'))));
  afterEach(() => rm(dir, { recursive: true }));
  const write = (name: string, text: string) => writeFile(path.join(dir, name), text);
  const gateway = async () => loadConfig(await readConfigFile(path.join(dir, 'gateway.yaml'), {}));
  const refusal = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail('was not refused'),
      (error: ConfigError) => error.message.replaceAll(`${dir}/`, ''),
    );

  it('says which config there is not', async () => {
    expect(await refusal(gateway())).to.equal('gateway.yaml:1:1 the file does not exist');
  });

  it('reads a catalog beside the config, with defaults', async () => {
    await write('gateway.yaml', `pipeline: [{ use: auth }]\nmodels: ./m.yaml\n${tail}`);
    await write('m.yaml', 'models:\n  - id: big\n    aliases: [b]\n  - id: small\n    maxTokens: 64000\n');
    const models = new CatalogModels((await gateway()).models);
    expect(models.find('b')).to.deep.equal({
      id: 'big',
      displayName: 'big',
      upstreamModel: 'big',
      maxTokens: 128_000,
      forcedToolChoice: true,
      sampling: 'one',
      thinking: 'adaptive',
      webSearch: true,
      aliases: ['b'],
      created: Date.UTC(2026, 0, 1) / 1000,
    });
    expect(models.find('small')?.maxTokens).to.equal(64_000);
    expect(models.find('none')).to.equal(undefined);
    expect(models.list()).to.have.length(2);
  });

  it('says what is wrong with a catalog at its place there', async () => {
    await write('gateway.yaml', `pipeline: [{ use: auth }]\nmodels: m.yaml\n${tail}`);
    await write(
      'm.yaml',
      'models:\n  - id: a\n    created: soon\n  - id: b\n    aliases: [a]\n  - id: c\n    maxTokens: 1\n',
    );
    expect(await refusal(gateway())).to.equal(
      'm.yaml:3:5 models[0].created: must be a date such as 2026-01-01, not "soon"\n' +
        'm.yaml:5:15 models[1].aliases[0]: "a" already names a model at line 2',
    );
    await write('m.yaml', 'models:\n  - id: a\n    maxTokens: 200000\n    thinkin: none\n');
    expect(await refusal(gateway())).to.equal(
      'm.yaml:3:5 models[0].maxTokens: must be at most 128000\n' +
        'm.yaml:4:5 models[0].thinkin: is not a known key; did you mean "thinking"?',
    );
  });

  it('refuses a catalog whose aliases stand for billions of models', async () => {
    await write('gateway.yaml', `pipeline: [{ use: auth }]\nmodels: m.yaml\n${tail}`);
    const ten = (at: number) => Array.from({ length: 10 }, () => `*l${at}`).join(', ');
    const levels = Array.from({ length: 9 }, (_, at) => `l${at + 1}: &l${at + 1} [${ten(at)}]`);
    await write('m.yaml', `l0: &l0 { id: a }\n${levels.join('\n')}\nmodels: *l9\n`);
    expect(await refusal(gateway())).to.match(/^m\.yaml:5:\d+ aliases here stand for more than 10000 values/);
  });

  it('takes the catalog of the package where none is named', async () => {
    await write('gateway.yaml', `pipeline: [{ use: auth }]\n${tail}`);
    const models = new CatalogModels((await gateway()).models);
    expect(models.find('sonnet-5-5')?.forcedToolChoice).to.equal(false);
    expect(models.find('sonnet-5')?.forcedToolChoice).to.equal(true);
    expect(models.list().some(({ maxTokens }) => maxTokens < 128_000)).to.equal(true);
  });

  it('takes .env as far as the environment says nothing', async () => {
    const env: Record<string, string | undefined> = { SET: 'mine', EMPTY: '' };
    await loadDotEnv(dir, env);
    await write('.env', '# keys\nSET=other\nEMPTY=filled\nexport KEY="a b" # why\n');
    await loadDotEnv(dir, env);
    expect(env).to.deep.equal({ SET: 'mine', EMPTY: 'filled', KEY: 'a b' });
  });
});
