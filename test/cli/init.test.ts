import { PassThrough } from 'node:stream';
import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { check } from '#src/cli/check.js';
import { init, type InitArguments } from '#src/cli/init.js';
import { idOf, providers, simulator, variablesOf } from '#src/cli/init/providers.js';
import { ProcessWorkshop } from '../gateway/gateway-process.js';

const secret = 'sk-not-to-be-shown # or cut off';

describe('gw2api init', function () {
  this.timeout(60_000);
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  for (const provider of [...providers, simulator])
    it(`writes a config for ${provider.name} that checks, and tests that pass`, async () => {
      const folder = await workshop.folder();
      const env = Object.fromEntries(variablesOf(provider).map((name) => [name, secret]));
      const { text } = await init({ provider: idOf(provider), folder, port: '9000' }, env, undefined);
      expect(text).not.to.include(secret);
      const file = path.join(folder, 'config/gateway.yaml');
      const checked = await check(file, { ...env, GW_SECRET_KEY: 'k' }, false);
      expect(checked.text).to.include(idOf(provider)).and.include('9000');
      const tested = await workshop.run({ args: ['test', '--json', '--config', file], env });
      expect(JSON.parse(tested.stdout)).to.deep.include({ passed: 3, failed: 0 });
    });

  it('writes keys to a .env that is its owner’s alone, and shows none', async () => {
    const folder = await workshop.folder();
    const { code, stdout } = await workshop.run({
      args: ['init', '--provider', 'openai', '--key-env', 'MY_KEY', '--folder', folder],
      env: { MY_KEY: secret },
    });
    expect(code).to.equal(0);
    expect(stdout).not.to.include(secret);
    const file = path.join(folder, '.env');
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    const text = await readFile(file, 'utf8');
    expect(text).to.match(
      /^GW2API_API_KEY=gw-master-\S{32}\nGW_SECRET_KEY=\S{44}\nOPENAI_API_KEY='sk-not-to-be-shown # or cut off'\n$/,
    );
    const served = await workshop.run({ args: ['check'], cwd: folder });
    expect(served.code, served.stderr).to.equal(0);
    expect((await workshop.run({ args: ['test'], cwd: folder })).code).to.equal(0);
  });

  it('writes over nothing without --force, and never over a key', async () => {
    const folder = await workshop.folder({ '.env': 'GW_SECRET_KEY=mine' });
    await init({ provider: 'simulator', folder }, {}, undefined);
    const first = await readFile(path.join(folder, '.env'), 'utf8');
    expect(first).to.match(/^GW_SECRET_KEY=mine\nGW2API_API_KEY=gw-master-\S+\n$/);
    await writeFile(path.join(folder, 'config/gateway.yaml'), 'mine');
    expect(await refusalOf({ provider: 'openai', folder })).to.match(
      /config\/gateway\.yaml is there already.*--force/,
    );
    expect(await readFile(path.join(folder, 'config/gateway.yaml'), 'utf8')).to.equal('mine');
    expect(await readFile(path.join(folder, '.env'), 'utf8')).to.equal(first);
    const { text } = await init({ provider: 'openai', folder, force: true }, {}, undefined);
    expect(text).to.include('GW2API_API_KEY, GW_SECRET_KEY stay as before').and.include('OPENAI_API_KEY=…');
    expect(await readFile(path.join(folder, '.env'), 'utf8')).to.equal(`${first}# OPENAI_API_KEY=\n`);
    expect(await readFile(path.join(folder, 'config/gateway.yaml'), 'utf8')).to.include('preset: openai');
  });

  it('shows the models of the provider with --online', async () => {
    const folder = await workshop.folder();
    const { text } = await init({ provider: 'simulator', folder, online: true }, {}, undefined);
    expect(text).to.match(/\nonline\n {2}simulator {2}answers without a network\n/);
    const offline = await init({ provider: 'bedrock', folder, force: true }, {}, undefined);
    expect(offline.text).to.include('check --online');
    expect(offline.text).to.not.include('\nonline\n');
    expect(await readFile(path.join(folder, 'config/gateway.yaml'), 'utf8')).to.include('models: discover');
  });

  it('says what is wrong with a flag, and writes nothing', async () => {
    const folder = await workshop.folder();
    const refused: readonly (readonly [InitArguments, RegExp])[] = [
      [{}, /--provider is missing: one of anthropic, .*simulator/],
      [{ provider: 'opnai' }, /"opnai" is not a provider; did you mean "openai"\?/],
      [{ provider: 'openai', port: '0' }, /--port takes a number from 1 to 65535, not "0"/],
      [{ provider: 'bedrock', 'key-env': 'X' }, /bedrock has 2: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY/],
      [{ provider: 'openai', 'key-env': 'X' }, /X is not set in the environment/],
    ];
    for (const [given, message] of refused) expect(await refusalOf({ ...given, folder })).to.match(message);
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it('asks at a terminal, and shows no key there', async () => {
    const folder = await workshop.folder();
    const [input, output] = [new PassThrough(), new PassThrough()];
    let shown = '';
    const answers = [
      ['Provider, by number or name', 'nonsense'],
      ['Provider, by number or name', 'groq'],
      ['Port', '9001'],
      ['GROQ_API_KEY', secret],
    ];
    output.on('data', (chunk: Buffer) => {
      shown += chunk.toString();
      const [question, answer] = answers[0] ?? [];
      if (question === undefined || !shown.includes(question)) return;
      answers.shift();
      shown = '';
      input.write(`${answer}\n`);
    });
    const { text } = await init({ folder }, {}, { input, output });
    expect(answers).to.deep.equal([]);
    expect(shown + text).not.to.include('sk-not');
    expect(await readFile(path.join(folder, '.env'), 'utf8')).to.include(`GROQ_API_KEY='${secret}'`);
    expect(await readFile(path.join(folder, 'config/gateway.yaml'), 'utf8')).to.include('port: 9001');
  });
});

function refusalOf(given: InitArguments): Promise<string> {
  return init(given, {}, undefined).then(() => 'no refusal', String);
}
