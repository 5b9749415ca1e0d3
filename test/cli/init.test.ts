import { PassThrough } from 'node:stream';
import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { openGateway } from '#src/features/open.js';
import { check } from '#src/cli/check.js';
import { init, type InitArguments } from '#src/cli/init.js';
import { idOf, providers, simulator, variablesOf } from '#src/cli/init/providers.js';
import { test } from '#src/features/tests/verb/command.js';
import { ProcessWorkshop } from '../whole/gateway-process.js';

const secret = 'sk-not-to-be-shown # or cut off';

describe('gw2api init', function () {
  this.timeout(60_000);
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  for (const provider of [...providers, simulator])
    it(`writes a config for ${provider.name} that checks, and tests that pass`, async () => {
      const folder = await workshop.folder();
      const env = Object.fromEntries(variablesOf(provider).map((name) => [name, secret]));
      const given = { provider: idOf(provider), folder, port: '9000', 'no-test': true };
      const { text } = await init(given, env, undefined);
      expect(text).not.to.include(secret);
      const file = path.join(folder, 'config/gateway.yaml');
      const checked = await check(file, { ...env, GW_SECRET_KEY: 'k' }, false);
      expect(checked.text).to.include(idOf(provider)).and.include('9000');
      expect(await tested(file, env))
        .to.match(/3 passed/)
        .and.not.include('failed');
    });

  it('writes keys to a .env that is its owner’s alone, and shows none', async () => {
    const folder = await workshop.folder();
    const { code, stdout } = await workshop.run({
      args: ['init', '--provider', 'openai', '--key-env', 'MY_KEY', '--no-test', '--folder', folder],
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
      /config\/gateway\.yaml already exists.*--force/,
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

  it('adds a second slot to the config, the tests and .env, and changes nothing else', async () => {
    const folder = await workshop.folder();
    const files = ['config/gateway.yaml', 'config/models.yaml', 'config/gateway.test.yaml', '.env'];
    const read = () => Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
    await init({ provider: 'openai', folder, 'no-test': true }, { OPENAI_API_KEY: 'first' }, undefined);
    const before = await read();
    const config = before[0]!.replace(
      '\nmodels: ./models',
      '  # the account of the team\n\nmodels: ./models',
    );
    await writeFile(path.join(folder, 'config/gateway.yaml'), config);
    before[0] = config;
    before[1] = before[1]!.replace('models: []', 'models:');
    const add = (given: InitArguments, env = {}) =>
      init({ folder, add: true, 'no-test': true, ...given }, env, undefined);
    const { text } = await add({ provider: 'openai', 'key-env': 'SECOND' }, { SECOND: secret });
    expect(text).to.include('Slot "openai-2" (OpenAI) is added to config/gateway.yaml');
    await add({ provider: 'foundry', set: ['resource=acme'], model: ['team-sonnet,team-haiku'] });
    const after = await read();
    for (const [at, whole] of after.entries()) expect(linesLeft(whole, before[at]!), files[at]).to.equal('');
    const { slots } = parse(after[0]!) as { slots: readonly object[] };
    expect(slots.slice(1)).to.deep.equal([
      {
        id: 'openai-2',
        upstream: 'chat',
        with: { preset: 'openai' },
        baseUrl: 'https://api.openai.com/v1',
        account: { kind: 'api-key', key: '${OPENAI_API_KEY_2}' },
        models: 'discover',
      },
      {
        id: 'foundry',
        upstream: 'messages',
        baseUrl: 'https://acme.services.ai.azure.com/anthropic',
        with: { cacheScope: false },
        account: { kind: 'api-key', key: '${FOUNDRY_API_KEY}' },
        models: ['team-sonnet', 'team-haiku'],
      },
    ]);
    expect(parse(after[1]!)).to.deep.equal({ models: [{ id: 'team-sonnet' }, { id: 'team-haiku' }] });
    expect(after[3]).to.match(/OPENAI_API_KEY=first\nOPENAI_API_KEY_2='sk-not.*'\n# FOUNDRY_API_KEY=\n$/);
    const keys = { OPENAI_API_KEY: 'a', OPENAI_API_KEY_2: 'b', FOUNDRY_API_KEY: 'c' };
    const file = path.join(folder, 'config/gateway.yaml');
    expect(await tested(file, keys))
      .to.match(/5 passed/)
      .and.not.include('failed');
  });

  it('adds a slot to a config without tests, with a list in one line, and names slots that take any model', async () => {
    const stages =
      '[{ use: auth }, { use: body-limit }, { use: format-decode }, { use: slot-pick }, { use: upstream-call }, { use: format-encode }]';
    const text = `# mine\npipeline: ${stages} # all of them\nslots: [{ id: a, upstream: simulator }]\nstore: memory\n`;
    const folder = await workshop.folder({ 'config/gateway.yaml': text });
    const added = await init({ provider: 'ollama', folder, add: true, 'no-test': true }, {}, undefined);
    expect(added.text).to.include('"a" accepts any model');
    const file = path.join(folder, 'config/gateway.yaml');
    expect(await readFile(file, 'utf8'))
      .to.match(/^# mine\n/)
      .and.include('# all of them');
    const checked = await check(file, {}, false);
    expect(checked.text).to.include('ollama');
    const refused = await refusalOf({ provider: 'ollama', folder: path.join(folder, 'other'), add: true });
    expect(refused).to.match(/config\/gateway\.yaml cannot be read \(ENOENT\); omit --add/);
  });

  it('says what is wrong with a flag, and writes nothing', async () => {
    const folder = await workshop.folder();
    const refused: readonly (readonly [InitArguments, RegExp])[] = [
      [{}, /--provider is missing: one of anthropic, .*simulator/],
      [{ provider: 'opnai' }, /"opnai" is not a provider; did you mean "openai"\?/],
      [{ provider: 'openai', port: '0' }, /--port takes a number from 1 to 65535, not "0"/],
      [{ provider: 'bedrock', 'key-env': 'X' }, /bedrock has 2: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY/],
      [{ provider: 'openai', 'key-env': 'X' }, /X is not set in the environment/],
      [
        { provider: 'azure', set: ['region=x'] },
        /--set takes NAME=VALUE; azure-openai has resource, not "region"/,
      ],
      [{ provider: 'azure', set: ['resource=a b'] }, /--set resource: must be one line without spaces/],
      [{ provider: 'azure', model: ['a b'] }, /--model: "a b" is not the name of a model/],
      [{ provider: 'openai', 'base-url': 'api.openai.com' }, /--base-url takes an address/],
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
      ['That is not in the list.', '\u0015groq'],
      ['Port', '9001'],
      ['GROQ_API_KEY', secret],
    ];
    output.on('data', (chunk: Buffer) => {
      shown += chunk.toString();
      const [question, answer] = answers[0] ?? [];
      if (question === undefined || !shown.includes(question)) return;
      answers.shift();
      shown = '';
      setImmediate(() => input.write(`${answer}\n`));
    });
    const { text } = await init({ folder }, {}, { input, output });
    expect(answers).to.deep.equal([]);
    expect(shown + text).not.to.include('sk-not');
    expect(await readFile(path.join(folder, '.env'), 'utf8')).to.include(`GROQ_API_KEY='${secret}'`);
    expect(await readFile(path.join(folder, 'config/gateway.yaml'), 'utf8')).to.include('port: 9001');
  });
});

/** Report on the tests of a config. */
async function tested(config: string, env: Readonly<Record<string, string>>): Promise<string> {
  const flags = { isCi: true, isUpdate: false, isWatch: false, form: 'text', isColoured: false } as const;
  const { text } = await test({ files: [], config, isNamed: true }, env, flags, openGateway);
  return text;
}

/** Lines of `before` that `whole` lacks, in their order. */
function linesLeft(whole: string, before: string): string {
  const left = before.split('\n');
  for (const line of whole.split('\n')) if (line === left[0]) left.shift();
  return left.join('\n').trim();
}

function refusalOf(given: InitArguments): Promise<string> {
  return init(given, {}, undefined).then(() => 'no refusal', String);
}
