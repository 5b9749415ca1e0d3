import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { ProcessWorkshop } from '../../whole/gateway-process.js';
import type { Files } from '../../whole/temp-folders.js';
import { testConfig } from '#src/features/tests/before-reload.js';
import { body, config, testsOf } from './command-kit.js';

/** A report as if no test had taken a millisecond; a test says so of those that it has taken. */
function withoutTimes(report: string): string {
  return report.replaceAll(/\d+ ms/g, '0 ms').replaceAll(' (0 ms)', '');
}

describe('gw2api test', () => {
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  async function run(files: Files, ...args: readonly string[]) {
    const cwd = await workshop.folder({ 'config/gateway.yaml': config, ...files });
    const ended = await workshop.run({ cwd, args: ['test', ...args] });
    return { cwd, ...ended };
  }

  it('runs the tests in a config and beside it, touches no file, and warns of placeholders', async () => {
    const own = testsOf('expect: { status: 200, upstream.system.0.text: Be brief. }');
    const { cwd, stdout, stderr, code } = await run({
      'config/gateway.yaml': config + own,
      'config/a.test.yaml': testsOf('expect: { slot: team-a }', 'as: nobody, expect: { status: 401 }'),
      'config/b.test.yaml': `config: ./other.yaml\n${testsOf('expect: { slot: nowhere }')}`,
    });
    expect(stderr).to.equal('');
    expect(withoutTimes(stdout)).to.equal(`config/gateway.yaml
  ✓ test 0

config/a.test.yaml
  ✓ test 0
  ✓ test 1

3 passed in 0 ms
warning: placeholders are used for secrets missing in the environment: TEAM_A_KEY
`);
    expect(code).to.equal(0);
    expect(await readdir(cwd)).to.deep.equal(['config']);
    const alone = await workshop.spawn({ cwd, args: ['test'] });
    expect(alone).to.include({ code: 0, stderr: '' });
    expect(withoutTimes(alone.stdout)).to.equal(withoutTimes(stdout));
  });

  it('runs the tests of a pipeline, whose requests must land in it', async () => {
    const pipelines = 'pipelines: [{ name: red, tests: [../teams/red.test.yaml] }]\n';
    const { cwd, stdout, code } = await run({
      'config/gateway.yaml': config + pipelines,
      'teams/red.test.yaml': testsOf(
        'as: { key: a }, expect: { status: 200 }',
        'as: nobody, expect: { status: 401, pipeline: default }',
      ).replace('{ name: test 0', '{ keys: { a: { pipeline: red } }, name: test 0'),
    });
    expect(stdout).to.include('lands in the pipeline "default", but its test is one of the pipeline "red"');
    expect(stdout).to.match(/1 passed, 1 failed|1 failed, 1 passed/);
    expect(code).to.equal(1);
    const file = path.join(cwd, 'config/gateway.yaml');
    const { failures } = await testConfig(file, { ...process.env });
    expect(failures).to.have.lengthOf(1);
    expect(failures[0]).to.include({ test: 'test 1', pipeline: 'red' });
    expect(failures[0]!.message).to.match(
      /red\.test\.yaml:3:\d+ "test 1" of the pipeline "red": lands in the pipeline/,
    );
  });

  it('refuses keys and teams of tests that name unknown pipelines', async () => {
    const pipelines = 'pipelines: [{ name: red }]\n';
    const { stderr, code } = await run({
      'config/gateway.yaml': config + pipelines,
      'config/a.test.yaml': testsOf('as: { key: a }, expect: { status: 200 }').replace(
        '{ name: test 0',
        '{ keys: { a: { pipeline: rde }, b: { pipeline: default } }, teams: { t: { pipeline: blue } }, name: test 0',
      ),
      'config/b.test.yaml': testsOf(
        'expect: { pipeline: rde }',
        'expect: { pipeline: { not: rde } }',
        'expect: { pipeline: red }',
      ),
    });
    expect(code).to.equal(2);
    expect(stderr.split('\n').filter(Boolean)).to.deep.equal([
      'config/a.test.yaml:2:20 tests[0].keys.a.pipeline: "rde" is not a pipeline of the config; did you mean "red"?',
      'config/a.test.yaml:2:79 tests[0].teams.t.pipeline: "blue" is not a pipeline of the config; known: default, red',
      'config/b.test.yaml:2:152 tests[0].requests[0].expect.pipeline: "rde" is not a pipeline of the config; did you mean "red"?',
    ]);
  });

  it('names the pipeline whose file of tests is missing, invalid, or names an unknown pipeline', async () => {
    const tests = testsOf('as: { key: a }, expect: { status: 200 }');
    const unknown = tests.replace('{ name: test 0', '{ keys: { a: { pipeline: rde } }, name: test 0');
    for (const [file, fault] of [
      [{}, 'red.test.yaml:1:1 the file does not exist'],
      [{ 'teams/red.test.yaml': 'tests: [{ nam: x }]\n' }, 'is not a known key; did you mean "name"?'],
      [{ 'teams/red.test.yaml': unknown }, '"rde" is not a pipeline of the config; did you mean "red"?'],
    ] as const) {
      const cwd = await workshop.folder({
        'config/gateway.yaml': `${config}pipelines: [{ name: red, tests: [../teams/red.test.yaml] }]\n`,
        ...file,
      });
      const { failures } = await testConfig(path.join(cwd, 'config/gateway.yaml'), { ...process.env });
      expect(failures.map(({ pipeline }) => pipeline))
        .to.include('red')
        .and.not.include(undefined);
      const said = failures.find(({ message }) => message.includes(fault));
      expect(said?.message, fault).to.match(/red\.test\.yaml:1:|red\.test\.yaml:2:/);
      expect(said!.message).to.match(/ \(in the pipeline "red"\)$/);
    }
  });

  it('exits with 1 where a test fails, with the line of each failure', async () => {
    const { stdout, code } = await run({
      'config/a.test.yaml': testsOf(
        'expect: { status: 201, slot: team-b }',
        'expect: { attempts: { above: 1 } }',
      ),
    });
    expect(code).to.equal(1);
    expect(stdout).to.match(
      /a\.test\.yaml:2:\d+ tests\[0\]\.requests\[0\]\.expect\.status\n.*\n +expected {2}201\n +got {7}200\n/,
    );
    expect(stdout).to.match(/a\.test\.yaml:2:\d+ tests\[0\]\.requests\[0\]\.expect\.slot\n/);
    expect(stdout).to.match(/a\.test\.yaml:3:\d+ tests\[1\]\.requests\[0\]\.expect\.attempts\.above\n/);
    expect(stdout).to.include('0 passed, 2 failed');
  });

  it('exits with 2 where tests are not written as they must be, or their config is not', async () => {
    const broken = await run({ 'config/a.test.yaml': testsOf('expect: { staus: 200 }') });
    expect(broken.code).to.equal(2);
    expect(broken.stderr).to.match(/a\.test\.yaml:2:\d+ .*staus: .*did you mean "status"\?/);
    const refused = await run({
      'config/gateway.yaml': config.replace('slot-pick', 'slot-pik'),
      'config/a.test.yaml': testsOf('expect: { status: 200 }'),
    });
    expect(refused.code).to.equal(2);
    expect(refused.stderr).to.include('gateway.yaml:7:5').and.to.include('slot-pick');
    const nowhere = await run({}, 'nowhere.test.yaml');
    expect(nowhere.code).to.equal(2);
    expect(nowhere.stderr).to.include('nowhere.test.yaml:1:1 the file does not exist');
  });

  it('reads the config with the environment of each test', async () => {
    const tests = `tests:
  - { name: a, env: { PERSONA: Be long. }, requests: [{ post: /v1/messages, body: ${body}, expect: { upstream.system.0.text: Be long. } }] }
  - { name: b, requests: [{ post: /v1/messages, body: ${body}, expect: { upstream.system.0.text: Be brief. } }] }
`;
    expect((await run({ 'config/a.test.yaml': tests })).code).to.equal(0);
  });

  it('says what the slots did where the status or the slot is another one', async () => {
    const { stdout } = await run({
      'config/a.test.yaml': `tests:
  - name: a
    clock: 2026-01-01T00:00:00Z
    slots: { team-a: { status: 429, retryAfter: 30 } }
    requests: [{ post: /v1/messages, body: ${body}, expect: { status: 200 } }]
`,
    });
    expect(stdout).to.match(
      /got {7}429\n.* slots: team-a: rate_limit_error, (?:cooling until|cooling for \S+ until) 2026-01-01T00:00:3\d/,
    );
  });

  const priced = config
    .replace('  - use: slot-pick', '  - use: rate-limit\n  - use: slot-pick')
    .replace(
      'account:',
      'price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite5m: 3.75, cacheWrite1h: 6 }, account:',
    );

  it('asserts costs by the prices of the config, and that one without prices is unknown', async () => {
    const own = testsOf(
      'expect: { cost: { billed: { above: 0.00001, below: 0.01 }, shown: { above: 0.00001 } } }',
      'expect: { cost: { billed: { above: 1 } } }',
    );
    const { stdout, code } = await run({ 'config/gateway.yaml': priced, 'config/a.test.yaml': own });
    expect(code).to.equal(1);
    expect(stdout).to.match(/tests\[1\]\.requests\[0\]\.expect\.cost\.billed\.above\n/);
    expect(stdout)
      .to.match(/got {7}0\.00\d+\n/)
      .and.include('1 passed, 1 failed');
    const unknown = await run({
      'config/a.test.yaml': testsOf('expect: { cost: { billed: unknown, shown: unknown } }'),
    });
    expect(unknown.stdout).to.include('1 passed');
  });

  it('holds keys of a team to the budget that they share, until the next day', async () => {
    const as = (key: string, expected: string) =>
      `{ post: /v1/messages, as: ${key}, body: ${body}, expect: ${expected} }`;
    const exceeded = '{ status: 429, error.code: budget_exceeded, headers.x-should-retry: "false" }';
    const tests = `tests:
  - name: a budget
    clock: 2026-11-22T10:00:00Z
    keys: { ann: { team: red }, bob: { team: red }, cy: { usdPerDay: 0.000001 } }
    teams: { red: { usdPerDay: 0.000001 } }
    requests:
      - ${as('ann', '{ status: 200, cost.billed: { above: 0.000001 } }')}
      - ${as('bob', exceeded)}
      - ${as('cy', '{ status: 200 }')}
      - ${as('cy', exceeded)}
      - ${as('bob', '{ status: 200 }').replace('{ post', '{ after: 14h, post')}
`;
    const { stdout, stderr } = await run({ 'config/gateway.yaml': priced, 'config/a.test.yaml': tests });
    expect(stderr).to.equal('');
    expect(stdout).to.include('1 passed in');
  });

  it('refuses to expect anything of a slot that there is not', async () => {
    const { stdout, code } = await run({
      'config/a.test.yaml': testsOf(
        'expect: { slots: { teem-a: { absent: true } } }',
        'expect: { slots.team-b.reason: { absent: true } }',
        'expect: { slots: { team-a: { lastError: null } }, slots.team-a.state: ready }',
      ),
    });
    expect(code).to.equal(1);
    expect(stdout).to.match(/expect\.slots\.teem-a\n +unknown slot "teem-a"; did you mean "team-a"\?/);
    expect(stdout).to.match(/slots\.team-b\.reason\n +unknown slot "team-b"/);
    expect(stdout).to.include('1 passed, 2 failed');
  });

  it('fails the test alone whose stages cannot be started', async () => {
    const broken = `export default { name: 'broken', setup: () => ({ start() { throw new Error('no such index'); } }) };`;
    const tests = `tests:
  - { name: a, start: true, requests: [{ get: /health }] }
  - { name: b, requests: [{ get: /health, expect: { status: 200 } }] }
`;
    const { stdout, code } = await run({
      'config/gateway.yaml': config.replace('pipeline:\n', 'pipeline:\n  - use: ./broken.js\n'),
      'config/broken.js': broken,
      'config/package.json': '{ "type": "module" }',
      'config/a.test.yaml': tests,
    });
    expect(stdout)
      .to.match(/could not be run: .*no such index/)
      .and.to.include('1 passed, 1 failed');
    expect(code).to.equal(1);
  });

  it('shows no secret of the config where a test fails', async () => {
    const secret = 'of-the-operators-only';
    const { stdout, code } = await run({
      'config/gateway.yaml': config.replace('account:', `headers: { x-team: ${secret} }, account:`),
      'config/a.test.yaml': testsOf(`expect: { "outgoing[-1].headers.x-team": another }`),
    });
    expect(code).to.equal(1);
    expect(stdout).not.to.include(secret);
    expect(stdout).to.match(/got {7}"?\*\*\*"?\n +\*\*\* stands for a secret of the config/);
  });

  it('says which slot or scenario there is not, and goes on', async () => {
    const tests = `tests:
  - { name: a, slots: { team-b: { scenario: text } }, requests: [{ get: /health }] }
  - { name: b, slots: { team-a: { scenario: txt } }, requests: [{ get: /health }] }
  - { name: c, requests: [{ get: /health }] }
`;
    const { stdout, code } = await run({ 'config/a.test.yaml': tests });
    expect(code).to.equal(1);
    expect(stdout).to.match(/could not be run: .*team-b.*did you mean "team-a"/);
    expect(stdout).to.match(/could not be run: .*txt/);
    expect(stdout).to.include('1 passed, 2 failed');
  });

  it('fails a test in which a plugin connects to somewhere', async () => {
    const plugin = `import { connect } from 'node:net';
      export default { name: 'phone', setup: () => async (ctx, next) => {
        await new Promise((resolve) => connect(9, '127.0.0.1').on('error', resolve).on('connect', resolve));
        await next();
      } };`;
    const { stdout, code } = await run({
      'config/phone.mjs': plugin,
      'config/gateway.yaml': config.replace('pipeline:', 'pipeline:\n  - use: ./phone.mjs'),
      'config/a.test.yaml': testsOf(
        'expect: { status: 200 }',
        'expect: { refusedConnections: { length: 1 } }',
      ),
    });
    expect(stdout).to.include('a plugin tried to connect to 127.0.0.1:9');
    expect(stdout).to.include('1 passed, 1 failed');
    expect(code).to.equal(1);
  });

  it('runs only what says "only", skips with a reason, and refuses both with --ci', async () => {
    const get = 'requests: [{ get: /health, as: nobody, expect: { status: 200 } }]';
    const files = {
      'config/a.test.yaml': `tests: [{ name: a, only: true, ${get} }, { name: b, ${get} }, { name: c, only: true, skip: later, ${get} }]`,
    };
    const { stdout, code } = await run(files);
    expect(stdout).to.include('✓ a').and.to.include('- c (skipped: later)').and.to.include('1 left out');
    expect(code).to.equal(0);
    const ci = await run(files, '--ci');
    expect(ci.code).to.equal(2);
    expect(ci.stderr.split('\n').filter(Boolean)).to.have.lengthOf(3);
  });

  it('prints JSON and the XML of JUnit; problems are JSON, too', async () => {
    const files = { 'config/a.test.yaml': testsOf('expect: { status: 200 }', 'expect: { status: 201 }') };
    const json = JSON.parse((await run(files, '--json')).stdout) as object;
    expect(json).to.deep.include({ passed: 1, failed: 1 });
    expect((await run(files, '--junit')).stdout).to.include(
      '<testsuites name="gw2api" tests="2" failures="1"',
    );
    const broken = await run({ 'config/a.test.yaml': 'tests: 1' }, '--json');
    expect(broken.code).to.equal(2);
    expect(JSON.parse(broken.stdout)).to.have.nested.property('problems[0].path', 'tests');
    const both = await run(files, '--json', '--junit');
    expect(both).to.deep.include({
      code: 2,
      stderr: '--json and --junit exclude each other; keep one.\n',
    });
  });

  it('writes recorded values with --update, and changes nothing else of the file', async () => {
    const text = `# My tests.
tests:
  # A comment that stays.
  - name: a
    requests:
      - post: /v1/messages
        body: ${body}
        expect: snapshot # of all

      - { same: true, as: nobody, expect: { status: snapshot, error: snapshot } }   # in braces
      - same: true
        as: test
        expect:
          answer:   snapshot
          attempts: 1
`;
    const files = { 'config/a.test.yaml': text };
    const before = await run(files);
    expect(before.code).to.equal(1);
    expect(before.stdout).to.include('has no recorded value yet; `gw2api test --update` writes it');
    const { cwd, stdout, code } = await run(files, '--update');
    expect(stdout).to.include('4 expected values written');
    expect(code).to.equal(0);
    const written = await readFile(path.join(cwd, 'config/a.test.yaml'), 'utf8');
    expect(written).to.include('# My tests.\ntests:\n  # A comment that stays.\n  - name: a\n');
    expect(written).to.include('        expect: # of all\n          status: 200\n');
    expect(written).to.match(
      /\{ status: 401, error: \{ code: missing_api_key, message: .* \} \} \} {3}# in braces/,
    );
    expect(written).to.include('          answer:\n            type: message\n');
    expect(written).to.not.match(/\bid: |durationMs/);
    const again = await workshop.run({ cwd, args: ['test'] });
    expect(again).to.deep.include({ code: 0, stderr: '' });
  });

  it('never writes a config', async () => {
    const text = config + testsOf('expect: snapshot');
    const { cwd, stdout, code } = await run({ 'config/gateway.yaml': text }, '--update');
    expect(code).to.equal(1);
    expect(stdout).to.include('values are not written into a config; move the test to a *.test.yaml file');
    expect(await readFile(path.join(cwd, 'config/gateway.yaml'), 'utf8')).to.equal(text);
  });

  it('says that record runs with a placeholder where its key is missing', async () => {
    const recording = config.replace('  - use: slot-pick', '  - use: record\n  - use: slot-pick');
    const files = {
      'config/gateway.yaml': recording,
      'config/a.test.yaml': testsOf('expect: { status: 200 }'),
    };
    const told = 'warning: a placeholder is used for GW_SECRET_KEY, with which the stage record encrypts';
    expect((await run(files)).stdout)
      .to.include('1 passed')
      .and.include(told);
    const cwd = await workshop.folder(files);
    const env = { GW_SECRET_KEY: 'a secret of the tests, which is long' };
    expect((await workshop.run({ cwd, args: ['test'], env })).stdout)
      .to.include('1 passed')
      .and.not.include(told);
    const off = recording.replace('use: record', 'use: record\n    enabled: false');
    expect((await run({ ...files, 'config/gateway.yaml': off })).stdout).to.not.include(told);
  });
});
