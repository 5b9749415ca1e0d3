import { once } from 'node:events';
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { expect } from 'chai';
import { name, version } from '#src/kit/version.js';
import { eventually } from '../eventually.js';
import { ProcessWorkshop, type GatewayProcess } from './gateway-process.js';
import { startHeldUpstream, type HeldUpstream } from './held-upstream.js';

const workshop = new ProcessWorkshop();

/** A hook of a `describe`: at the top of a file it would be one of every test there is. */
function endProcesses(): void {
  afterEach(() => workshop.end());
}

const key = 'the-master-key';
const env = { GW2API_API_KEY: key };

/** What encrypts credentials, beside the master key in `.env`; a pattern. */
const secretLine = 'GW_SECRET_KEY=[\\w+/]{43}=\n';

/** A `gateway.yaml` with every stage that an answer needs. */
function yaml(slots = '[{ id: a, upstream: simulator }]', listen = '{}'): string {
  const uses = ['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'];
  return `listen: ${listen}\npipeline:\n${uses.map((use) => `  - use: ${use}\n`).join('')}slots: ${slots}\n`;
}

function slotsAt(url: string): string {
  return `[{ id: a, upstream: messages, baseUrl: '${url}', account: { kind: none } }]`;
}

async function envOf(folder: string): Promise<string> {
  return readFile(path.join(folder, '.env'), 'utf8');
}

function post(url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key, ...headers },
    body: JSON.stringify(body),
  });
}

function ask(text: string, fields: object = {}): object {
  return { model: 'sonnet-5', max_tokens: 100, messages: [{ role: 'user', content: text }], ...fields };
}

/** The curl lines of a text as arguments of fetch. */
function curlsIn(text: string): readonly (readonly [url: string, init: RequestInit])[] {
  const lines = text.split('\n').filter((line) => line.startsWith('curl '));
  return lines.map((line) => {
    const [, url = '', options = ''] = /^curl (\S+) (.*)$/.exec(line) ?? [];
    const pairs = [...options.matchAll(/-H '([^':]+): ([^']*)'/g)].map(([, field, value]) => [field, value]);
    const body = /-d '([^']*)'$/.exec(options)?.[1] ?? null;
    return [url, { method: 'POST', headers: Object.fromEntries(pairs), body }];
  });
}

describe('the first start', () => {
  endProcesses();

  it('makes a master key, keeps it in .env, and prints it with four requests that work as they stand', async () => {
    const cwd = await workshop.folder();
    const gateway = await workshop.start({ cwd });
    const printed = await gateway.output('/panel\n');
    const masterKey = /^Master key: (gw-master-[\w-]{32})$/m.exec(printed)?.[1];
    expect(await envOf(cwd)).to.match(new RegExp(`^${secretLine}GW2API_API_KEY=${masterKey}\n$`));
    expect(((await stat(path.join(cwd, '.env'))).mode & 0o777).toString(8)).to.equal('600');
    expect(printed).to.include(`(shown once; written to ${path.join(cwd, '.env')})`);
    const [, address] = /^The console: (http:\S+)$/m.exec(printed) ?? [];
    expect(await (await fetch(address ?? '')).text()).to.include('<title>gw2api console</title>');

    const answers = await Promise.all(curlsIn(printed).map((curl) => fetch(...curl)));
    expect(answers.map((answer) => [new URL(answer.url).pathname, answer.status])).to.deep.equal([
      ['/v1/messages', 200],
      ['/v1/chat/completions', 200],
      ['/v1/responses', 200],
      ['/v1/completions', 200],
    ]);
    for (const answer of answers) expect(await answer.text()).to.include('Hello!');
  });

  it('is the only one that shows the key', async () => {
    const cwd = await workshop.folder();
    const first = await workshop.start({ cwd });
    const masterKey = /gw-master-[\w-]+/.exec(await first.output('/v1/completions'))![0];
    first.signal('SIGTERM');
    await first.ended;

    const second = await workshop.start({ cwd });
    const answer = await post(await second.url(), ask('Hi'), { 'x-api-key': masterKey });
    expect(answer.status).to.equal(200);
    second.signal('SIGTERM');
    const { stdout } = await second.ended;
    expect(stdout).not.to.include(masterKey);
    expect(stdout).not.to.include('curl');
    expect(await envOf(cwd)).to.match(new RegExp(`^${secretLine}GW2API_API_KEY=${masterKey}\n$`));
  });

  it('adds a line to a .env whose last one has no end, and gives it mode 0600', async () => {
    const cwd = await workshop.folder({ '.env': 'GW_LOG_LEVEL=info\nOTHER=1' });
    const gateway = await workshop.start({ cwd });
    await gateway.output('/v1/completions');
    expect(await envOf(cwd)).to.match(
      new RegExp(`^GW_LOG_LEVEL=info\nOTHER=1\n${secretLine}GW2API_API_KEY=gw-master-[\\w-]+\n$`),
    );
    expect(((await stat(path.join(cwd, '.env'))).mode & 0o777).toString(8)).to.equal('600');
  });

  it('goes on where .env cannot be written, and says that the key is not kept', async () => {
    const cwd = await workshop.folder();
    await mkdir(path.join(cwd, '.env'));
    const gateway = await workshop.start({ cwd });
    const printed = await gateway.output('/v1/completions');
    expect(printed).to.include('(shown once; NOT kept, for .env cannot be written here: set GW2API_API_KEY)');
    const [curl] = curlsIn(printed);
    expect((await fetch(...curl!)).status).to.equal(200);
  });

  it('makes no key where the environment has one', async () => {
    const cwd = await workshop.folder();
    const gateway = await workshop.start({ cwd, env: { ...env, GW_SECRET_KEY: 'the secret' } });
    expect((await post(await gateway.url(), ask('Hi'))).status).to.equal(200);
    gateway.signal('SIGTERM');
    expect((await gateway.ended).stdout).not.to.include('curl');
    expect(await envOf(cwd).catch((error: NodeJS.ErrnoException) => error.code)).to.equal('ENOENT');
  });

  it('opens the console with GW_PANEL_PASSWORD where the environment has one', async () => {
    const gateway = await workshop.start({ env: { ...env, GW_PANEL_PASSWORD: 'open sesame' } });
    const url = await gateway.url();
    const logIn = async (password: string) =>
      fetch(`${url}/api/panel/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ password }),
      });
    expect((await logIn(key)).status).to.equal(401);
    const login = await logIn('open sesame');
    expect(login.status).to.equal(200);
    const [cookie] = login.headers.getSetCookie();
    const session = await fetch(`${url}/api/panel/session`, { headers: { cookie: cookie!.split(';')[0]! } });
    expect(session.status).to.equal(200);
  });

  it('takes the line ends of files away from both, and the byte order mark of .env', async () => {
    const cwd = await workshop.folder({ '.env': `\ufeffGW_PANEL_PASSWORD="open sesame\n"\n` });
    const gateway = await workshop.start({ cwd, env: { GW2API_API_KEY: `${key}\r\n` } });
    const url = await gateway.url();
    expect((await post(url, ask('Hi'))).status).to.equal(200);
    const login = await fetch(`${url}/api/panel/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ password: 'open sesame' }),
    });
    expect(login.status).to.equal(200);
  });

  it('refuses secrets that no header can hold, and does not show them', async () => {
    const cwd = await workshop.folder();
    const wrong = { GW2API_API_KEY: 'the\u200bmaster-key', GW_PANEL_PASSWORD: 'open\nsesame' };
    const says =
      'GW2API_API_KEY has a character that no header can hold (U+200B): nobody could send it; set another one.\n' +
      'GW_PANEL_PASSWORD has a character that no header can hold (U+000A): nobody could send it; set another one.\n';
    expect(await workshop.run({ cwd, env: wrong })).to.include({ code: 78, stdout: '', stderr: says });
    const checked = await workshop.run({ cwd, env: wrong, args: ['check'] });
    expect(checked).to.include({ code: 1, stdout: '', stderr: says });
    const { code, stdout } = await workshop.run({ cwd, env: wrong, args: ['doctor', '--json'] });
    expect([code, stdout.includes('(U+200B)')]).to.deep.equal([1, true]);
    const spaced = await workshop.run({ cwd, env: { GW2API_API_KEY: 'the-master-key ' } });
    expect(spaced.stderr).to.match(
      /^GW2API_API_KEY begins or ends with white space, which no header can hold/,
    );
  });

  it('makes a key where the environment has only the name of one', async () => {
    const gateway = await workshop.start({ env: { GW2API_API_KEY: '' } });
    expect(await gateway.output('/v1/completions')).to.include('Master key: gw-master-');
  });

  it('lets the environment win over .env', async () => {
    const cwd = await workshop.folder({ '.env': 'GW2API_API_KEY=of-the-file\nGW_LOG_LEVEL=error\n' });
    const gateway = await workshop.start({ cwd, env: { ...env, GW_LOG_LEVEL: 'info' } });
    const url = await gateway.url();
    expect((await post(url, ask('Hi'))).status).to.equal(200);
    expect((await post(url, ask('Hi'), { 'x-api-key': 'of-the-file' })).status).to.equal(401);
  });

  it('stops at a .env that it cannot read, in one line', async () => {
    const cwd = await workshop.folder();
    await symlink('.env', path.join(cwd, '.env'));
    const { code, stderr } = await workshop.run({ cwd });
    expect(code).to.equal(2);
    expect(stderr).to.equal('.env cannot be read (ELOOP); mend it or take it away.\n');
  });

  for (const [what, files] of [
    ['its config is refused', { 'config/gateway.yaml': yaml().replace('body-limit', 'body-limits') }],
    ['it cannot listen', { 'config/gateway.yaml': yaml() }],
  ] as const)
    it(`keeps no key that nobody has seen: ${what}`, async () => {
      const taken = await takePort();
      const cwd = await workshop.folder(files);
      const { code, stdout } = await workshop.run({ cwd, env: { PORT: String(taken.port) } });
      taken.free();
      expect(code).to.be.greaterThan(0);
      expect(stdout).to.equal('');
      expect(await envOf(cwd).catch((error: NodeJS.ErrnoException) => error.code)).to.equal('ENOENT');
    });
});

describe('the config of a start', () => {
  endProcesses();

  const inAnotherPlace = { 'elsewhere/my.yaml': yaml('[{ id: mine, upstream: simulator }]') };

  async function slotsOf(gateway: GatewayProcess): Promise<readonly string[]> {
    const answer = await fetch(`${await gateway.url()}/admin/slots`, { headers: { 'x-api-key': key } });
    const { data } = (await answer.json()) as { data: { id: string }[] };
    return data.map(({ id }) => id);
  }

  it('is the one that ships where the working directory has none', async () => {
    const gateway = await workshop.start({ env });
    expect(await slotsOf(gateway)).to.deep.equal(['simulator']);
  });

  it('is config/gateway.yaml of the working directory', async () => {
    const cwd = await workshop.folder({ 'config/gateway.yaml': yaml() });
    expect(await slotsOf(await workshop.start({ cwd, env }))).to.deep.equal(['a']);
  });

  it('is what GW_CONFIG names', async () => {
    const cwd = await workshop.folder(inAnotherPlace);
    const gateway = await workshop.start({ cwd, env: { ...env, GW_CONFIG: 'elsewhere/my.yaml' } });
    expect(await slotsOf(gateway)).to.deep.equal(['mine']);
    expect((await gateway.log('The gateway is listening.'))['config']).to.equal('elsewhere/my.yaml');
  });

  it('is what --config names, also beside GW_CONFIG', async () => {
    const cwd = await workshop.folder(inAnotherPlace);
    const gateway = await workshop.start({
      cwd,
      env: { ...env, GW_CONFIG: 'nowhere.yaml' },
      args: ['--config', 'elsewhere/my.yaml'],
    });
    expect(await slotsOf(gateway)).to.deep.equal(['mine']);
  });

  it('is missed in one line where it is not there', async () => {
    const { code, stderr } = await workshop.run({ args: ['--config', 'nowhere.yaml'] });
    expect(code).to.equal(78);
    expect(stderr).to.equal(
      'nowhere.yaml:1:1 there is no such file; name another by --config FILE or GW_CONFIG\n',
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

  it('warns of a master key that can be guessed, at the start and by check', async () => {
    const told = 'GW2API_API_KEY is shorter than 16 characters and can be guessed; set a longer one.';
    const short = { GW2API_API_KEY: 'fifteen-letters' };
    const gateway = await workshop.start({ env: short });
    expect(await gateway.log(told)).to.include({ level: 'warn' });
    const { code, stdout } = await workshop.run({ args: ['check'], env: short });
    expect(code).to.equal(0);
    expect(stdout).to.match(new RegExp(`\nwarning: ${told}\n$`));
    const { stdout: quiet } = await workshop.run({
      args: ['check'],
      env: { GW2API_API_KEY: 'sixteen-letters!' },
    });
    expect(quiet).not.to.include('warning');
  });

  it('warns of a GW_SECRET_KEY that can be guessed, at the start and by check, and takes it', async () => {
    const weak = { GW2API_API_KEY: 'sixteen-letters!', GW_SECRET_KEY: 'abc' };
    const gateway = await workshop.start({ env: weak });
    const told = /^GW_SECRET_KEY is shorter than 32 characters: .*Make one with `openssl rand -base64 32`/;
    const line = await gateway.line(({ msg }) => told.test(msg));
    expect(line).to.include({ level: 'warn' });
    const { code, stdout } = await workshop.run({ args: ['check'], env: weak });
    expect(code).to.equal(0);
    expect(stdout).to.match(/\nwarning: GW_SECRET_KEY is shorter than 32 characters: .*\n$/);
  });

  it('names the process that SIGHUP goes to', async () => {
    const gateway = await workshop.start({ env });
    const { pid } = await gateway.log('The gateway is listening.');
    expect(pid).to.be.a('number');
    process.kill(Number(pid), 'SIGTERM');
    expect(await gateway.ended).to.include({ code: 0 });
  });

  it('warns of models that are not in the catalog, and goes on', async () => {
    const slots = '[{ id: a, upstream: simulator, models: [sonet-5] }]';
    const cwd = await workshop.folder({ 'config/gateway.yaml': yaml(slots) });
    const told = 'slots[0].models[0]: "sonet-5" is not in the catalog; did you mean "sonnet-5"?';
    const { code, stdout } = await workshop.run({ cwd, args: ['check'] });
    expect(code).to.equal(0);
    expect(stdout.trimEnd().split('\n').at(-1)).to.equal(`warning: config/gateway.yaml:9:9 ${told}`);
    const gateway = await workshop.start({ cwd, env });
    await gateway.url();
    expect(gateway.logged.find(({ level }) => level === 'warn')?.msg).to.include(told);
  });

  it('puts the environment into it: GW_MAX_BODY', async () => {
    const gateway = await workshop.start({ env: { ...env, GW_MAX_BODY: '1kb' } });
    const url = await gateway.url();
    expect((await post(url, ask('x'.repeat(500)))).status).to.equal(200);
    const answer = await post(url, ask('x'.repeat(1024)));
    expect(answer.status).to.equal(413);
    expect(await answer.json()).to.deep.include({
      error: {
        type: 'request_too_large',
        code: 'body_too_large',
        message: 'The body is larger than 1024 bytes, the most that this gateway takes.',
      },
    });
  });

  it('refuses an environment that does not fit', async () => {
    const cwd = await workshop.folder();
    const { code, stderr } = await workshop.run({ cwd, env: { GW_MAX_BODY: 'banana', PORT: '70000' } });
    expect(code).to.equal(78);
    const [port, limit, ...more] = stderr.trimEnd().split('\n');
    expect(port).to.include(
      'listen.port: the environment variable PORT, which wins over it, must be a port from 0 to 65535, not "70000"',
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

describe('a port that cannot be had', () => {
  endProcesses();

  it('is said in one line, in exit code 2', async () => {
    const taken = await takePort();
    const ended = await workshop.run({ env: { ...env, PORT: String(taken.port) } });
    taken.free();
    expect(ended).to.deep.equal({
      code: 2,
      signal: null,
      stdout: '',
      stderr: `Cannot listen on 127.0.0.1:${taken.port}: another process listens there; stop it or set another port (PORT=8788).\n`,
    });
  });

  it('is an address of another machine', async () => {
    const { code, stderr } = await workshop.run({ env: { ...env, HOST: '192.0.2.1' } });
    expect(code).to.equal(2);
    expect(stderr).to.equal(
      'Cannot listen on 192.0.2.1:0: this machine has no such address; set HOST=0.0.0.0 for all of them.\n',
    );
  });

  it('is said by the simulator too', async () => {
    const taken = await takePort();
    const { code, stderr } = await workshop.run({
      entry: 'plugins/upstreams/simulator/main.js',
      args: ['--port', String(taken.port)],
    });
    taken.free();
    expect(code).to.equal(1);
    expect(stderr).to.match(/^[^\n]*EADDRINUSE[^\n]*\n$/);
  });
});

describe('SIGHUP', () => {
  endProcesses();

  it('takes the config as it stands now', async () => {
    const cwd = await workshop.folder({ 'config/gateway.yaml': yaml() });
    const gateway = await workshop.start({ cwd, env });
    const url = await gateway.url();
    await writeFile(path.join(cwd, 'config/gateway.yaml'), yaml('[{ id: b, upstream: simulator }]'));
    gateway.signal('SIGHUP');
    await gateway.log('The config was reloaded.');
    expect((await post(url, ask('Hi'))).headers.get('x-gw-slot')).to.equal('b');
  });

  it('keeps the old config where the new one is bad, and logs why with its place', async () => {
    const cwd = await workshop.folder({ 'config/gateway.yaml': yaml() });
    const gateway = await workshop.start({ cwd, env });
    const url = await gateway.url();
    await writeFile(path.join(cwd, 'config/gateway.yaml'), yaml().replace('use: auth', 'use: autth'));
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

  it('ends an idle gateway, whose callers keep their connections, at once', async () => {
    const gateway = await startOver();
    expect((await fetch(`${await gateway.url()}/health`)).status).to.equal(200);
    gateway.signal('SIGINT');
    expect(await gateway.ended).to.include({ code: 0, signal: null, stderr: '' });
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
    [['check', 'config.yaml'], /^"config\.yaml" is one word too many for check; see --help\.\n$/],
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
    expect(await envOf(cwd).catch((error: NodeJS.ErrnoException) => error.code)).to.equal('ENOENT');
  });

  it('tells what is wrong, in exit code 1', async () => {
    const cwd = await workshop.folder({ 'my.yaml': yaml().replace('  - use: slot-pick\n', '') });
    const { code, stdout, stderr } = await workshop.run({ cwd, args: ['check', '--config', 'my.yaml'] });
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.match(/^my\.yaml:6:5 pipeline\[3\] "upstream-call" needs "picker".*slot-pick.*\n$/);
  });
});

/** A port of the loopback address on which somebody else listens. */
async function takePort(): Promise<{ readonly port: number; readonly free: () => void }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, free: () => void server.close() }; // it listens on TCP
}

async function freePort(): Promise<number> {
  const { port, free } = await takePort();
  free();
  return port;
}

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
    const line = await gateway.log('An error was not caught; a stage may lack an await.');
    expect(line).to.have.nested.property('err.message', 'lost');
    gateway.signal('SIGTERM');
    expect(await gateway.ended).to.include({ code: 0, signal: null });
  });
});
