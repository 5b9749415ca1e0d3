import { mkdir, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { keepMasterKey, masterKeyOf, secretKeyOf } from '#src/cli/serve/first-start.js';
import { ProcessWorkshop, type GatewayProcess } from '../../gateway-process.js';
import { ask, env, envOf, faultOfEnv, key, post, takePort, yaml } from './process-kit.js';

/** What encrypts credentials, beside the master key in `.env`; a pattern. */
const secretLine = 'GW_SECRET_KEY=[\\w+/]{43}=\n';

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

async function modeOf(folder: string): Promise<string> {
  return ((await stat(path.join(folder, '.env'))).mode & 0o777).toString(8);
}

function logIn(url: string, password: string): Promise<Response> {
  return fetch(`${url}/api/panel/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ password }),
  });
}

describe('the first start', () => {
  const workshop = new ProcessWorkshop();
  let cwd: string;
  let first: GatewayProcess;
  before(async () => {
    cwd = await workshop.folder();
    first = await workshop.start({ cwd });
  });
  after(() => workshop.end());

  it('makes a master key, keeps it in .env, and prints it with four requests that work as they stand', async () => {
    const printed = await first.output('/panel\n');
    const masterKey = /^Master key: (gw-master-[\w-]{32})$/m.exec(printed)?.[1];
    expect(await envOf(cwd)).to.match(new RegExp(`^${secretLine}GW2API_API_KEY=${masterKey}\n$`));
    expect(await modeOf(cwd)).to.equal('600');
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
    const folder = await workshop.folder({ '.env': 'GW_LOG_LEVEL=info\nOTHER=1' });
    await secretKeyOf(folder, {})();
    const { masterKey } = masterKeyOf({});
    expect(await keepMasterKey(folder, masterKey)).to.equal(path.join(folder, '.env'));
    expect(await envOf(folder)).to.match(
      new RegExp(`^GW_LOG_LEVEL=info\nOTHER=1\n${secretLine}GW2API_API_KEY=gw-master-[\\w-]+\n$`),
    );
    expect(await modeOf(folder)).to.equal('600');
  });

  it('goes on where .env cannot be written, and says that the key is not kept', async () => {
    const folder = await workshop.folder();
    await mkdir(path.join(folder, '.env'));
    const gateway = await workshop.start({ cwd: folder });
    const printed = await gateway.output('/v1/completions');
    expect(printed).to.include(
      '(shown once; NOT saved, because .env cannot be written here: set GW2API_API_KEY)',
    );
    const [curl] = curlsIn(printed);
    expect((await fetch(...curl!)).status).to.equal(200);
  });

  it('refuses secrets that no header can hold, and does not show them', async () => {
    const folder = await workshop.folder();
    const wrong = { GW2API_API_KEY: 'the\u200bmaster-key', GW_PANEL_PASSWORD: 'open\nsesame' };
    const says =
      'GW2API_API_KEY has a character that no header can hold (U+200B): no client could send it; set another one.\n' +
      'GW_PANEL_PASSWORD has a character that no header can hold (U+000A): no client could send it; set another one.\n';
    expect(await workshop.run({ cwd: folder, env: wrong })).to.include({
      code: 78,
      stdout: '',
      stderr: says,
    });
    const checked = await workshop.run({ cwd: folder, env: wrong, args: ['check'] });
    expect(checked).to.include({ code: 1, stdout: '', stderr: says });
    const { code, stdout } = await workshop.run({ cwd: folder, env: wrong, args: ['doctor', '--json'] });
    expect([code, stdout.includes('(U+200B)')]).to.deep.equal([1, true]);
    const spaced = await workshop.run({ cwd: folder, env: { GW2API_API_KEY: 'the-master-key ' } });
    expect(spaced.stderr).to.match(
      /^GW2API_API_KEY begins or ends with white space, which no header can hold/,
    );
  });

  it('makes a key where the environment has only the name of one', () => {
    expect(masterKeyOf({ GW2API_API_KEY: '' })).to.include({ isNew: true });
    expect(masterKeyOf({ GW2API_API_KEY: '' }).masterKey).to.match(/^gw-master-[\w-]{32}$/);
  });

  it('stops at a .env that it cannot read, in one line', async () => {
    const folder = await workshop.folder();
    await symlink('.env', path.join(folder, '.env'));
    const { code, stderr } = await workshop.run({ cwd: folder });
    expect(code).to.equal(2);
    expect(stderr).to.equal('.env cannot be read (ELOOP); fix or remove it.\n');
  });

  for (const [what, files, way] of [
    ['its config is refused', { 'config/gateway.yaml': yaml().replace('body-limit', 'body-limits') }, 'run'],
    ['it cannot listen', { 'config/gateway.yaml': yaml() }, 'spawn'],
  ] as const)
    it(`keeps no key that nobody has seen: ${what}`, async () => {
      const taken = await takePort();
      const folder = await workshop.folder(files);
      const { code, stdout } = await workshop[way]({ cwd: folder, env: { PORT: String(taken.port) } });
      taken.free();
      expect(code).to.be.greaterThan(0);
      expect(stdout).to.equal('');
      expect(await faultOfEnv(folder)).to.equal('ENOENT');
    });
});

describe('the first start with secrets in the environment', () => {
  const workshop = new ProcessWorkshop();
  let cwd: string;
  let gateway: GatewayProcess;
  before(async () => {
    cwd = await workshop.folder();
    const own = { ...env, GW_SECRET_KEY: 'the secret', GW_PANEL_PASSWORD: 'open sesame', GW_MAX_BODY: '1kb' };
    gateway = await workshop.start({ cwd, env: own });
  });
  after(() => workshop.end());

  it('opens the console with GW_PANEL_PASSWORD where the environment has one', async () => {
    const url = await gateway.url();
    expect((await logIn(url, key)).status).to.equal(401);
    const login = await logIn(url, 'open sesame');
    expect(login.status).to.equal(200);
    const [cookie] = login.headers.getSetCookie();
    const session = await fetch(`${url}/api/panel/session`, { headers: { cookie: cookie!.split(';')[0]! } });
    expect(session.status).to.equal(200);
  });

  it('puts the environment into the config: GW_MAX_BODY', async () => {
    const url = await gateway.url();
    expect((await post(url, ask('x'.repeat(500)))).status).to.equal(200);
    const answer = await post(url, ask('x'.repeat(1024)));
    expect(answer.status).to.equal(413);
    expect(await answer.json()).to.deep.include({
      error: {
        type: 'request_too_large',
        code: 'body_too_large',
        message: 'The body is larger than 1024 bytes, the maximum of this gateway.',
      },
    });
  });

  it('makes no key where the environment has one', async () => {
    expect((await post(await gateway.url(), ask('Hi'))).status).to.equal(200);
    gateway.signal('SIGTERM');
    const { code, stdout } = await gateway.ended;
    expect(code).to.equal(0);
    expect(stdout).not.to.include('curl');
    expect(await faultOfEnv(cwd)).to.equal('ENOENT');
  });
});

describe('the first start with secrets in the environment and in .env', () => {
  const workshop = new ProcessWorkshop();
  let url: string;
  before(async () => {
    const file = '\ufeffGW_PANEL_PASSWORD="open sesame\n"\nGW2API_API_KEY=of-the-file\nGW_LOG_LEVEL=error\n';
    const cwd = await workshop.folder({ '.env': file });
    const own = { GW2API_API_KEY: `${key}\r\n`, GW_LOG_LEVEL: 'info' };
    url = await (await workshop.start({ cwd, env: own })).url();
  });
  after(() => workshop.end());

  it('takes the line ends of files away from both, and the byte order mark of .env', async () => {
    expect((await post(url, ask('Hi'))).status).to.equal(200);
    expect((await logIn(url, 'open sesame')).status).to.equal(200);
  });

  it('lets the environment win over .env', async () => {
    expect((await post(url, ask('Hi'))).status).to.equal(200);
    expect((await post(url, ask('Hi'), { 'x-api-key': 'of-the-file' })).status).to.equal(401);
  });
});
