import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { chmod, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { Client } from 'pg';
import { clock, descriptors, nodeVersion } from '#src/cli/doctor/machine.js';
import { doctor } from '#src/cli/doctor.js';
import type { Finding, Patient } from '#src/cli/doctor/finding.js';
import { openStore } from '#src/state/store/index.js';
import { migrate } from '#src/state/store/sql/tables/migrate.js';
import { migrations } from '#src/state/store/sql/tables/migrations.js';
import { openSqlite } from '#src/state/store/sql/sqlite/sqlite.js';
import { startSqliteThread } from '#src/state/store/sql/sqlite/sqlite-thread.js';
import { ProcessWorkshop } from '../whole/gateway-process.js';
import { startOpenaiServer, type OpenaiServer } from '../whole/slots/upstreams/openai-server.js';
import { ownPostgres, postgresUrl, quiet } from '../state/store/stores.js';

const env = {
  GW2API_API_KEY: 'the-master-key-of-a-test',
  GW_SECRET_KEY: 'the secret of a test, which is long',
};
const tokens = { accessToken: 'a', refreshToken: 'r', origin: 'o' };

interface Report {
  readonly problems: number;
  readonly warnings: number;
  readonly findings: readonly Finding[];
}

describe('gw2api doctor', function () {
  this.timeout(60_000);
  const workshop = new ProcessWorkshop();
  let cwd: string;
  beforeEach(async () => {
    cwd = await workshop.folder({ 'config/gateway.yaml': config() });
  });
  afterEach(() => workshop.end());

  const file = () => path.join(cwd, 'data/gateway.db');
  const ask = async (own: Readonly<Record<string, string>> = env, ...args: string[]) => {
    const { code, stdout, stderr } = await workshop.run({
      args: ['doctor', '--json', ...args],
      cwd,
      env: own,
    });
    const report = JSON.parse(stdout || `"${stderr}"`) as Report;
    expect(code).to.equal(report.problems > 0 ? 1 : 0);
    return { ...report, of: (name: string) => report.findings.find((each) => each.name === name) };
  };

  it('finds nothing where a gateway can serve, and touches nothing', async () => {
    const { problems, warnings, findings } = await ask();
    expect([problems, warnings], JSON.stringify(findings)).to.deep.equal([0, 0]);
    const names = [
      'node',
      '.env',
      'secrets',
      'config',
      'port',
      'store',
      'live',
      'disk',
      'memory',
      'open files',
      'clock',
    ];
    expect(findings.map(({ name }) => name)).to.deep.equal(names);
    expect(await readdir(cwd)).to.deep.equal(['config']);
    const screen = await workshop.spawn({ args: ['doctor'], cwd, env });
    expect(screen.stdout).to.include('Nothing prevents it from serving.');
  });

  it('says what is wrong with the config', async () => {
    await writeFile(path.join(cwd, 'config/gateway.yaml'), JSON.stringify({ ...config(), slotz: [] }));
    const { of, problems } = await ask();
    expect(problems).to.equal(1);
    expect(of('config')?.text).to.match(/slotz: is not a known key/);
  });

  it('names a taken port, and knows a gateway that serves there', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo; // a TCP server's
    expect((await ask({ ...env, PORT: String(port) })).of('port')).to.deep.include({ state: 'problem' });
    taken.close();
    const gateway = await workshop.start({ cwd, env });
    const serving = await ask({ ...env, PORT: new URL(await gateway.url()).port });
    expect(serving.of('port')).to.deep.include({ state: 'warning' });
    expect(serving.of('store')?.text).to.include(migrations.at(-1)!.name);
  });

  it('says whether GW_SECRET_KEY opens the credentials', async () => {
    const store = await openStore(
      { kind: 'sqlite', file: file() },
      { secretKey: env.GW_SECRET_KEY, log: quiet },
    );
    await store.credentials.put('a', tokens);
    await store.close();
    expect((await ask()).of('credentials')).to.deep.include({ state: 'ok', text: '1 under GW_SECRET_KEY' });
    const other = await ask({ ...env, GW_SECRET_KEY: 'another secret of a test, which is long' });
    expect(other.of('credentials')?.state).to.equal('problem');
    expect(other.of('credentials')?.text).to.match(/1 cannot be read: GW_SECRET_KEY is not the one/);
    const rotating = await ask({
      ...env,
      GW_SECRET_KEY: 'another secret of a test, which is long',
      GW_SECRET_KEY_OLD: env.GW_SECRET_KEY,
    });
    expect(rotating.of('credentials')?.text).to.include(
      '1 under GW_SECRET_KEY_OLD: run gw2api rotate-secret',
    );
    expect(await readdir(path.join(cwd, 'data'))).to.deep.equal(['gateway.db']);
  });

  it('says what a start would do with the tables, and leaves them', async () => {
    for (const [known, state, text] of [
      [migrations.slice(0, 4), 'ok', /older version \(0004-response-totals\); the start migrates them/],
      [
        [...migrations, { name: '9999-later', up: async () => undefined }],
        'problem',
        /newer version \(it has 9999-later\)/,
      ],
    ] as const) {
      const db = await openSqlite(startSqliteThread(file()));
      await migrate(db, 'sqlite', known);
      await db.destroy();
      const found = (await ask()).of('store');
      expect(found?.state).to.equal(state);
      expect(found?.text).to.match(text);
      await workshop.end();
      cwd = await workshop.folder({ 'config/gateway.yaml': config() });
    }
  });

  it('names a file where the folder of the store should be', async () => {
    await writeFile(path.join(cwd, 'data'), '');
    const { text } = (await ask()).of('disk')!;
    expect(text).to.match(/\/data cannot be created: \S+\/data is a file$/);
  });

  it('warns of an open .env and of weak keys', async () => {
    await writeFile(path.join(cwd, '.env'), 'GW2API_API_KEY=short\nGW_SECRET_KEY=abc\n');
    await chmod(path.join(cwd, '.env'), 0o644);
    const { of, warnings } = await ask({});
    expect(of('.env')?.text).to.include('chmod 600 .env');
    expect(of('secrets')?.text).to.match(/shorter than 16.*\n.*shorter than 32/);
    expect(warnings).to.equal(2);
  });

  it('says which of the servers does not answer, without a password', async () => {
    const addresses = { store: 'postgres://me:hidden@127.0.0.1:1/gw', live: 'redis://:hidden@127.0.0.1:1' };
    await writeFile(path.join(cwd, 'config/gateway.yaml'), JSON.stringify({ ...config(), ...addresses }));
    const { of, findings } = await ask();
    expect(of('store')).to.include({ state: 'problem' });
    expect(of('live')).to.include({ state: 'warning' });
    expect(JSON.stringify(findings)).not.to.include('hidden');
  });

  it('asks servers that answer', async function () {
    const redis = process.env['GW_TEST_REDIS_URL'];
    if (redis === undefined || postgresUrl === undefined) return this.skip();
    const addresses = { store: postgresUrl, live: redis };
    await writeFile(path.join(cwd, 'config/gateway.yaml'), JSON.stringify({ ...config(), ...addresses }));
    const { of } = await ask();
    expect(of('store')).to.include({ state: 'ok' });
    expect(of('live')?.text).to.match(/version \d/);
  });

  it('says what a start lacks in PostgreSQL, and how many connections are free', async function () {
    if (postgresUrl === undefined) return this.skip();
    const client = new Client({ connectionString: postgresUrl });
    await client.connect();
    const { where, remove } = await ownPostgres(postgresUrl);
    const [, schema = ''] = /search_path%3D(\w+)/.exec(where.url) ?? [];
    try {
      await client.query(`create role ${schema} login; grant usage on schema ${schema} to ${schema}`);
      const url = new URL(where.url);
      url.username = schema;
      await writeFile(
        path.join(cwd, 'config/gateway.yaml'),
        JSON.stringify({ ...config(), store: url.href }),
      );
      const { of } = await ask();
      expect(of('store')).to.deep.equal({
        name: 'store',
        state: 'problem',
        text: `PostgreSQL does not let "${schema}" create tables in the schema "${schema}"; grant it (grant create on schema "${schema}" to "${schema}"), or name another schema (?options=-c search_path=NAME)`,
      });
      expect(of('connections')?.text).to.match(/^\d+ of \d+ are free/);
      await client.query(`alter role ${schema} connection limit 3`);
      expect((await ask()).of('connections')).to.deep.include({
        state: 'warning',
        text: '3 of 3 are free, and 1 process may open 10: raise max_connections, or lower the pool of `store:`',
      });
    } finally {
      await client.query(`drop owned by ${schema}; drop role ${schema}`);
      await client.end();
      await remove();
    }
  });

  it('resolves slots only with --online', async () => {
    const slot = {
      id: 'far',
      upstream: 'messages',
      baseUrl: 'http://127.0.0.1:1',
      account: { kind: 'api-key', key: 'k' },
    };
    await writeFile(path.join(cwd, 'config/gateway.yaml'), JSON.stringify({ ...config(), slots: [slot] }));
    expect((await ask()).of('online')).to.equal(undefined);
    const { of } = await ask(env, '--online');
    expect(of('online')).to.include({ state: 'warning' });
    expect(of('online')?.text).to.match(/far .*FAILED/);
  });
});

describe('gw2api doctor --online', () => {
  const workshop = new ProcessWorkshop();
  let server: OpenaiServer;
  before(async () => {
    server = await startOpenaiServer();
    server.models = ['text-embedding-4', 'gpt-6'];
    server.refuse = ({ model }) =>
      model === 'gpt-6' ? undefined : `The model '${String(model)}' of sk-hidden-key does not exist.`;
  });
  after(async () => {
    await workshop.end();
    await server.close();
  });

  /** First call that is reported of slots over the server. */
  async function firstCallOf(slots: readonly object[], skipsCalls = false) {
    server.bodies.length = 0;
    const base = {
      upstream: 'chat',
      with: { preset: 'openai' },
      baseUrl: `${server.url}/v1`,
      account: { kind: 'api-key', key: 'sk-hidden-key' },
    };
    const all = slots.map((slot) => ({ ...base, ...slot }));
    const folder = await workshop.folder({ 'gateway.yaml': { ...config(), slots: all } });
    const options = { isOnline: true, isJson: true, skipsCalls };
    const { text } = await doctor(path.join(folder, 'gateway.yaml'), env, options);
    return (JSON.parse(text) as Report).findings.find(({ name }) => name === 'first call');
  }

  it('calls each slot as its first caller would, by a model that it has', async () => {
    const found = await firstCallOf([{ id: 'shipped' }, { id: 'listed', models: 'discover' }]);
    expect(found).to.include({ state: 'warning' });
    const [shipped, listed] = found!.text.split('\n');
    expect(shipped).to.match(
      /^shipped {2}FAILED: sonnet-5: 400 The model 'claude-sonnet-5' of \S+ does not exist\.$/,
    );
    expect(listed).to.match(/^listed {2}gpt-6 answered in \d+\.\d s$/);
    expect(found!.text).to.not.include('sk-hidden-key');
    for (const body of server.bodies) expect(body['max_completion_tokens']).to.equal(16);
  }).timeout(60_000);

  it('is a problem where no slot answers, and left out with --no-test', async () => {
    expect(await firstCallOf([{ id: 'shipped' }])).to.include({ state: 'problem' });
    expect(await firstCallOf([{ id: 'shipped' }], true)).to.equal(undefined);
    expect(server.bodies).to.deep.equal([]);
  }).timeout(60_000);
});

describe('a look at the machine', () => {
  it('tells an old Node from a new one', () => {
    expect(
      ['18.20.0', '20.18.3', '20.19.0', '24.0.0'].map((version) => nodeVersion(version).state),
    ).to.deep.equal(['problem', 'problem', 'ok', 'ok']);
  });

  it('tells a clock that is behind, or far from another', async () => {
    const nowMs = Date.now();
    expect((await clock(new Map(), 0)).state).to.equal('problem');
    expect((await clock(new Map([['Redis', nowMs + 1000]]), nowMs)).state).to.equal('ok');
    expect((await clock(new Map([['Redis', nowMs + 90_000]]), nowMs)).text).to.include(
      '90 s away from the clock of Redis',
    );
  });

  it('compares the limit of open files with the connections', async function () {
    const patient = (maxConnections: number) => ({ config: { listen: { maxConnections } } }) as Patient; // all that it reads
    const many = await descriptors(patient(2 ** 40));
    if (many.state === 'skipped') return this.skip();
    expect((await descriptors(patient(1))).state).to.equal('ok');
    expect(many.text).to.match(/allowed/);
  });
});

function config(): object {
  const stages = ['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'];
  return { pipeline: stages.map((use) => ({ use })), slots: [{ id: 'a', upstream: 'simulator' }] };
}
