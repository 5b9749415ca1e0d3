import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { createGateway } from '@gw2api/gateway';
import { failureOf, listenProblem } from '#src/gateway/start-failure.js';
import { name, version } from '#src/kit/version.js';
import { eventually } from '../../../eventually.js';
import { freePort } from '../../free-port.js';
import { ProcessWorkshop, type GatewayProcess } from '../../gateway-process.js';
import { configOf, slotAt } from '../../harness.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import { ask, env, faultOfEnv, key, post, takePort, yaml } from './process-kit.js';

const workshop = new ProcessWorkshop();

/** A hook of a `describe`: at the top of a file it would be one of every test there is. */
function endProcesses(): void {
  afterEach(() => workshop.end());
}

function slotsAt(url: string): string {
  return `[{ id: a, upstream: messages, baseUrl: '${url}', account: { kind: none } }]`;
}

describe('the config of a start', () => {
  endProcesses();

  const inAnotherPlace = { 'elsewhere/my.yaml': yaml('[{ id: mine, upstream: simulator }]') };

  /** The first line of `check`, which finds the config as a start does. */
  async function checked(cwd: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    const { stdout } = await workshop.run({ cwd, env: { ...env, ...more }, args: ['check'] });
    return stdout.split('\n')[0] ?? '';
  }

  it('is the one that ships where the working directory has none', async () => {
    expect(await checked(await workshop.folder())).to.match(
      /^\/.*\/config\/gateway\.yaml: 1\d stages, 1 slot, /,
    );
  });

  it('is config/gateway.yaml of the working directory', async () => {
    const cwd = await workshop.folder({ 'config/gateway.yaml': yaml() });
    expect(await checked(cwd)).to.match(/^config\/gateway\.yaml: 6 stages, 1 slot, /);
  });

  it('is what GW_CONFIG names', async () => {
    const cwd = await workshop.folder({ ...inAnotherPlace, 'config/gateway.yaml': yaml() });
    const first = await checked(cwd, { GW_CONFIG: 'elsewhere/my.yaml' });
    expect(first).to.match(/^elsewhere\/my\.yaml: 6 stages, 1 slot, /);
  });

  it('is what --config names, also beside GW_CONFIG', async () => {
    const cwd = await workshop.folder(inAnotherPlace);
    const gateway = await workshop.start({
      cwd,
      env: { ...env, GW_CONFIG: 'nowhere.yaml' },
      args: ['--config', 'elsewhere/my.yaml'],
    });
    const answer = await fetch(`${await gateway.url()}/admin/slots`, { headers: { 'x-api-key': key } });
    const { data } = (await answer.json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).to.deep.equal(['mine']);
    expect((await gateway.log('The gateway is listening.'))['config']).to.equal('elsewhere/my.yaml');
  });

  it('is missed in one line where it is not there', async () => {
    const { code, stderr } = await workshop.run({ args: ['--config', 'nowhere.yaml'] });
    expect(code).to.equal(78);
    expect(stderr).to.equal(
      'nowhere.yaml:1:1 the file does not exist; name another by --config FILE or GW_CONFIG\n',
    );
  });

  it('tells all that is wrong with it at once, in exit code 78', async () => {
    const text = yaml('[{ id: a, upstream: simulator }, { id: a, upstream: nothing }]', '{ prot: 1 }')
      .concat('officialClient: { userAgent: "(" }\n')
      .replace('format-encode', 'format-encode\n  - use: body-limits')
      .replace('- use: auth', '- use: auth\n    with: { strict: true }')
      .replace(/ {2}- use: slot-pick\n( {2}- use: upstream-call\n)/, '$1  - use: slot-pick\n');
    const cwd = await workshop.folder({ 'bad.yaml': text });
    const { code, stderr, stdout } = await workshop.run({ cwd, args: ['--config', 'bad.yaml'] });
    expect(code).to.equal(78);
    expect(stdout).to.equal('');
    const problems = stderr.trimEnd().split('\n');
    for (const line of problems) expect(line).to.match(/^bad\.yaml:\d+:\d+ /);
    const expected = [
      /listen\.prot: is not a known key; did you mean "port"\?/,
      /pipeline\[0\]\.with\.strict: /,
      /"body-limits" is neither a built-in/,
      /"upstream-call" needs "picker"/,
      /slots\[1\]\.upstream/,
      /slots\[1\]\.id/,
      /officialClient\.userAgent: must be a regular expression/,
    ];
    for (const problem of expected)
      expect(
        problems.filter((line) => problem.test(line)),
        String(problem),
      ).to.have.length(1);
    expect(problems).to.have.length(expected.length);
  });

  it('refuses an environment that does not fit', async () => {
    const cwd = await workshop.folder();
    const { code, stderr } = await workshop.run({ cwd, env: { GW_MAX_BODY: 'banana', PORT: '70000' } });
    expect(code).to.equal(78);
    const [port, limit, ...more] = stderr.trimEnd().split('\n');
    expect(port).to.include(
      'listen.port: the environment variable PORT, which overrides it, must be a port from 0 to 65535, not "70000"',
    );
    expect(limit).to.include('pipeline[1].with.limit: must be a size such as');
    expect(more).to.deep.equal([]);
  });

  it('knows the levels of the log', async () => {
    const { code, stderr } = await workshop.run({ env: { ...env, GW_LOG_LEVEL: 'loud' } });
    expect(code).to.equal(2);
    expect(stderr).to.equal(
      'GW_LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not "loud".\n',
    );
  });

  it('keeps quiet at a log level of error', async () => {
    const port = await freePort();
    const gateway = await workshop.start({ env: { ...env, GW_LOG_LEVEL: 'error', PORT: String(port) } });
    await isServing(`http://127.0.0.1:${port}`);
    gateway.signal('SIGTERM');
    expect((await gateway.ended).stdout).to.equal('');
  });
});

describe('a start with a config and secrets to warn of', () => {
  const shop = new ProcessWorkshop();
  let cwd: string;
  let gateway: GatewayProcess;
  before(async () => {
    cwd = await shop.folder({
      'config/gateway.yaml': yaml('[{ id: a, upstream: simulator, models: [sonet-5] }]'),
    });
    gateway = await shop.start({ cwd, env: { GW2API_API_KEY: 'fifteen-letters', GW_SECRET_KEY: 'abc' } });
    await gateway.url();
  });
  after(() => shop.end());

  /** What `check` prints of the config that ships. */
  async function checked(own: Readonly<Record<string, string>>): Promise<string> {
    const { code, stdout } = await shop.run({ args: ['check'], env: own });
    expect(code).to.equal(0);
    return stdout;
  }

  it('warns of a master key that can be guessed, as check does', async () => {
    const told = 'GW2API_API_KEY is shorter than 16 characters and can be guessed; set a longer one.';
    expect(await gateway.log(told)).to.include({ level: 'warn' });
    expect(await checked({ GW2API_API_KEY: 'fifteen-letters' })).to.match(
      new RegExp(`\nwarning: ${told}\n$`),
    );
    expect(await checked({ GW2API_API_KEY: 'sixteen-letters!' })).not.to.include('warning');
  });

  it('warns of a GW_SECRET_KEY that can be guessed, as check does, and takes it', async () => {
    const told = /^GW_SECRET_KEY is shorter than 32 characters: .*Make one with `openssl rand -base64 32`/;
    const line = await gateway.line(({ msg }) => told.test(msg));
    expect(line).to.include({ level: 'warn' });
    const weak = { GW2API_API_KEY: 'sixteen-letters!', GW_SECRET_KEY: 'abc' };
    expect(await checked(weak)).to.match(/\nwarning: GW_SECRET_KEY is shorter than 32 characters: .*\n$/);
  });

  it('warns of models that are not in the catalog, and goes on', async () => {
    const told = 'slots[0].models[0]: "sonet-5" is not in the catalog; did you mean "sonnet-5"?';
    const { code, stdout } = await shop.run({ cwd, args: ['check'] });
    expect(code).to.equal(0);
    expect(stdout.trimEnd().split('\n').at(-1)).to.equal(`warning: config/gateway.yaml:9:9 ${told}`);
    expect(gateway.logged.find(({ level }) => level === 'warn')?.msg).to.include(told);
  });
});

describe('a port that cannot be had', () => {
  endProcesses();

  it('is said in one line, in exit code 2', async () => {
    const taken = await takePort();
    const ended = await workshop.spawn({ env: { ...env, PORT: String(taken.port) } });
    taken.free();
    expect(ended).to.deep.equal({
      code: 2,
      signal: null,
      stdout: '',
      stderr: `Cannot listen on 127.0.0.1:${taken.port}: another process is listening there; stop it or set another port (PORT=8788).\n`,
    });
  });

  it('is an address of another machine', async () => {
    const listen = { host: '192.0.2.1', port: 0 };
    const config = configOf({ listen, slots: [slotAt('http://127.0.0.1:9')] });
    const gateway = await createGateway(config, { masterKey: key });
    const error: unknown = await gateway.listen().catch((thrown: unknown) => listenProblem(thrown, listen));
    await gateway.close();
    expect(failureOf(error)).to.deep.equal({
      exitCode: 2,
      message:
        'Cannot listen on 192.0.2.1:0: this machine has no such address; set HOST=0.0.0.0 for all addresses.',
    });
  });

  it('is said by the simulator too', async () => {
    const taken = await takePort();
    const { code, stderr } = await workshop.spawn({
      entry: 'plugins/upstreams/simulator/main.js',
      args: ['--port', String(taken.port)],
    });
    taken.free();
    expect(code).to.equal(1);
    expect(stderr).to.match(/^[^\n]*EADDRINUSE[^\n]*\n$/);
  });
});

describe('SIGHUP', () => {
  const shop = new ProcessWorkshop();
  let file: string;
  let gateway: GatewayProcess;
  let url: string;
  before(async () => {
    const cwd = await shop.folder({ 'config/gateway.yaml': yaml() });
    file = path.join(cwd, 'config/gateway.yaml');
    gateway = await shop.start({ cwd, env });
    url = await gateway.url();
  });
  after(() => shop.end());

  it('keeps the old config where the new one is bad, and logs why with its place', async () => {
    await writeFile(file, yaml().replace('use: auth', 'use: autth'));
    gateway.signal('SIGHUP');
    const { level, problems } = await gateway.log('The new config was refused; the old one stays in force.');
    expect(level).to.equal('error');
    expect(problems).to.have.length(1);
    expect(String(problems)).to.match(
      /^config\/gateway\.yaml:3:\d+ pipeline\[0\]\.use "autth" .*did you mean "auth"\?$/,
    );
    const answer = await post(url, ask('Hi'));
    expect([answer.status, answer.headers.get('x-gw-slot')]).to.deep.equal([200, 'a']);
  });

  it('goes to the process that the log names', async () => {
    const { pid } = await gateway.log('The gateway is listening.');
    expect(pid).to.equal(gateway.pid);
  });

  it('takes the config as it stands now', async () => {
    await writeFile(file, yaml('[{ id: b, upstream: simulator }]'));
    gateway.signal('SIGHUP');
    await gateway.log('The config was reloaded.');
    expect((await post(url, ask('Hi'))).headers.get('x-gw-slot')).to.equal('b');
  });

  it('is followed by SIGINT, which ends an idle gateway, whose callers keep their connections, at once', async () => {
    expect((await fetch(`${url}/health`)).status).to.equal(200);
    gateway.signal('SIGINT');
    expect(await gateway.ended).to.include({ code: 0, signal: null, stderr: '' });
  });
});

describe('SIGTERM', () => {
  endProcesses();

  let upstream: HeldUpstream;
  beforeEach(async () => {
    upstream = await startHeldUpstream();
  });
  afterEach(() => upstream.close());

  async function startOver(listen = '{}'): Promise<GatewayProcess> {
    const cwd = await workshop.folder({ 'config/gateway.yaml': yaml(slotsAt(upstream.url), listen) });
    return workshop.start({ cwd, env });
  }

  it('lets a stream finish, takes nothing new meanwhile, and ends in exit code 0', async () => {
    const gateway = await startOver();
    const url = await gateway.url();
    const stream = await post(url, ask('Hi', { stream: true }));
    const answer = await upstream.next();
    gateway.signal('SIGTERM');
    await gateway.log('Waiting for requests to finish.');

    expect((await fetch(`${url}/health`)).status).to.equal(200);
    expect((await fetch(`${url}/health?ready=1`)).status).to.equal(503);
    const refused = await post(url, ask('Too late'));
    expect(refused.status).to.equal(503);
    expect(refused.headers.get('connection')).to.equal('close');
    expect(refused.headers.get('retry-after')).to.equal('1');
    expect(((await refused.json()) as { error: object }).error).to.include({
      type: 'overloaded_error',
      code: 'shutting_down',
    });

    answer.say(' And goodbye.');
    answer.finish();
    const text = await stream.text();
    expect(text).to.include('And goodbye.');
    expect(text).to.match(/event: message_stop\n.*\n\n$/);
    expect(await gateway.ended).to.include({ code: 0, signal: null, stderr: '' });
  });

  it('ends a stream that takes too long with an error event, still in exit code 0', async () => {
    const gateway = await startOver('{ shutdownTimeout: 50ms }');
    const stream = await post(await gateway.url(), ask('Hi', { stream: true }));
    const { closed } = await upstream.next();
    gateway.signal('SIGTERM');
    const text = await stream.text();
    expect(text).to.match(
      /event: error\ndata: [^\n]*was shut down before the answer was complete[^\n]*\n\n$/,
    );
    expect(text).not.to.include('message_stop');
    expect(await closed, 'whether the upstream could finish').to.equal(false);
    expect(await gateway.ended).to.include({ code: 0, signal: null, stderr: '' });
  });

  it('sent twice ends at once', async () => {
    const gateway = await startOver();
    const stream = await post(await gateway.url(), ask('Hi', { stream: true }));
    gateway.signal('SIGTERM');
    await gateway.log('Waiting for requests to finish.');
    gateway.signal('SIGTERM');
    expect(await gateway.ended).to.include({ code: 1, signal: null });
    await stream.text().catch(() => undefined);
  });
});

describe('the command line', () => {
  endProcesses();

  it('has a help that names every command, option and variable', async () => {
    const { code, stdout } = await workshop.run({ args: ['--help'] });
    expect(code).to.equal(0);
    expect(stdout.startsWith(`${name} ${version}`)).to.equal(true);
    const options = ['gw2api check', 'node dist/server.js', '--config', '--version', 'the package brings'];
    for (const word of [...options, 'GW2API_API_KEY', 'GW_MAX_BODY', 'SIGHUP'])
      expect(stdout).to.include(word);
  });

  it('has the part of a command after its word', async () => {
    const { code, stdout } = await workshop.run({ args: ['check', '--help'] });
    expect([code, stdout.startsWith('  gw2api check ')]).to.deep.equal([0, true]);
    for (const word of ['--online', '--test', '--config']) expect(stdout).to.include(word);
    for (const word of ['doctor', '--json', 'Environment']) expect(stdout).not.to.include(word);
  });

  it('tells the version', async () => {
    expect(await workshop.run({ args: ['--version'] })).to.include({ code: 0, stdout: `${version}\n` });
  });

  for (const [args, says] of [
    [['cheque'], /^"cheque" is not a command; see --help\.\n$/],
    [['check', 'config.yaml'], /^"config\.yaml" is one argument too many for check; see --help\.\n$/],
    [['--confg', 'x'], /^Unknown option '--confg'; see --help\.\n$/],
    [['--config'], /^[^\n]*--config[^\n]*argument missing; see --help\.\n$/],
  ] as const)
    it(`refuses ${args.join(' ')} in one line`, async () => {
      const { code, stdout, stderr } = await workshop.run({ args });
      expect([code, stdout]).to.deep.equal([2, '']);
      expect(stderr).to.match(says);
    });
});

describe('check', () => {
  endProcesses();

  it('prints the pipeline as it will run', async () => {
    const cwd = await workshop.folder({
      'my.yaml': yaml().replace('auth', 'auth\n  - { use: max-tokens, enabled: false }'),
    });
    const { code, stdout, stderr } = await workshop.spawn({ cwd, args: ['check', '--config', 'my.yaml'] });
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.include('my.yaml: 7 stages, 1 slot, ');
    const rows = stdout.split('\n').map((row) => row.trim().split(/\s+/).slice(0, 2).join(' '));
    expect(rows).to.include.members(['max-tokens off', 'a simulator']);
    const order = ['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'];
    const shown = rows.map((row) => row.split(' ')[0]!).filter((word) => order.includes(word));
    expect(shown).to.deep.equal(order);
  });

  it('makes no key and listens nowhere', async () => {
    const taken = await takePort();
    const cwd = await workshop.folder();
    const { code, stdout } = await workshop.run({ cwd, args: ['check'], env: { PORT: String(taken.port) } });
    taken.free();
    expect(code).to.equal(0);
    expect(stdout).not.to.include('key');
    expect(await faultOfEnv(cwd)).to.equal('ENOENT');
  });

  it('tells what is wrong, in exit code 1', async () => {
    const cwd = await workshop.folder({ 'my.yaml': yaml().replace('  - use: slot-pick\n', '') });
    const { code, stdout, stderr } = await workshop.run({ cwd, args: ['check', '--config', 'my.yaml'] });
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.match(/^my\.yaml:6:5 pipeline\[3\] "upstream-call" needs "picker".*slot-pick.*\n$/);
  });
});

/** Asks until somebody answers. */
async function isServing(url: string): Promise<void> {
  await eventually(async () => (await fetch(`${url}/health`).catch(() => undefined))?.ok === true, 30_000);
}

describe('a gateway whose plugin loses an error', () => {
  endProcesses();

  it('says so and goes on', async () => {
    const config = yaml().replace('pipeline:', 'pipeline:\n  - use: ./loses.mjs');
    const text = `export default () => (ctx, next) => { Promise.reject(new Error('lost')); return next(); };`;
    const cwd = await workshop.folder({ 'gateway.yaml': config, 'loses.mjs': text });
    const gateway = await workshop.start({ cwd, env, args: ['--config', 'gateway.yaml'] });
    const url = await gateway.url();
    const answers = [await post(url, ask('one')), await post(url, ask('two'))];
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    const line = await gateway.log('An error was not caught; an await may be missing in a stage.');
    expect(line).to.have.nested.property('err.message', 'lost');
    gateway.signal('SIGTERM');
    expect(await gateway.ended).to.include({ code: 0, signal: null });
  });
});
