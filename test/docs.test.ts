import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { scenarioHelp } from '#plugins/upstreams/simulator/scenarios/scenarios.js';
import { matcherNames } from '#src/features/tests/matchers.js';
import { outcomeFields } from '#src/features/tests/outcome-shape.js';
import { errorCodes } from '#src/plugin/contract/error.js';
import { packageName } from '#src/kit/version.js';
import { loadGatewayConfig } from '#src/gateway/load-config.js';
import { builtinStages } from './plugins/builtin-stages.js';
import { ProcessWorkshop } from './whole/gateway-process.js';
import { ask, configOf, masterKey, stages, startPair, type Pair } from './whole/harness.js';
import { lastCall } from './whole/kit.js';
import { TempFolders } from './whole/temp-folders.js';

/** The rows of the table under a heading, cell by cell, without the head. */
function tableUnder(markdown: string, heading: string): readonly (readonly string[])[] {
  const section = markdown.slice(markdown.indexOf(`\n## ${heading}\n`)).split('\n## ', 2)[1] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

/** Guides of operators. */
const guides = readdirSync('config')
  .filter((file) => file.endsWith('.md'))
  .map((file) => path.join('config', file));

function variablesIn(text: string): readonly string[] {
  return [...new Set(text.match(/\b(?:GW2?[A-Z]*_[A-Z_]+|PORT|HOST)\b/g))].toSorted();
}

describe('README.md and the guides', () => {
  let [readme, api, stageGuide, pluginGuide, running] = ['', '', '', '', ''];
  before(async () => {
    const files = [
      'README.md',
      'config/api.md',
      'plugins/stages.md',
      'plugins/README.md',
      'config/running.md',
    ];
    const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
    [readme, api, stageGuide, pluginGuide, running] = texts as [string, string, string, string, string];
  });

  it('has every error code with its status, and no other', () => {
    const told = tableUnder(api, 'Errors').map(([code, status]) => [code, Number(status)]);
    const known = Object.entries(errorCodes).map(([code, { status }]) => [code, status]);
    expect(told).to.deep.equal(known);
  });

  it('has every stage, in the order of config/gateway.yaml', async () => {
    const told = tableUnder(stageGuide, 'The stages').map(([stage]) => stage!);
    const { pipeline } = parse(await readFile('config/gateway.yaml', 'utf8')) as {
      pipeline: { use: string }[];
    };
    expect(told).to.deep.equal(pipeline.map(({ use }) => use));
    const builtins = await builtinStages();
    const optional = [...stageGuide.match(/^Optional, .*$/m)![0].matchAll(/`([a-z-]+)`/g)].map(
      ([, name]) => name!,
    );
    expect([...told, ...optional].toSorted()).to.deep.equal([...builtins.keys()].toSorted());
  });

  it('calls optional what config/gateway.reference.yaml has switched off', async () => {
    const [line] = stageGuide.match(/^Optional, .*$/m)!;
    const { pipeline } = parse(await readFile('config/gateway.reference.yaml', 'utf8')) as {
      pipeline: { use: string; enabled?: boolean }[];
    };
    const off = pipeline.filter(({ use, enabled }) => enabled === false && !use.startsWith('.'));
    expect(line.match(/`[a-z-]+`/g)).to.have.members(off.map(({ use }) => `\`${use}\``));
  });

  it('draws the pipeline as it is', async () => {
    const [, picture] = /```\n([^]*?)```/.exec(readme)!;
    const { pipeline } = parse(await readFile('config/gateway.yaml', 'utf8')) as {
      pipeline: { use: string }[];
    };
    const names = pipeline.map(({ use }) => use);
    const drawn = picture!.match(/[a-z]+(?:-[a-z]+)*/g)!.filter((word) => names.includes(word));
    // What comes after the call stands on the way back, from right to left.
    const at = names.indexOf('upstream-call') + 1;
    expect(drawn).to.deep.equal([...names.slice(0, at), ...names.slice(at).toReversed()]);
  });

  it('names paths that the gateway has, with the methods that they take', async () => {
    const pair = await startPair();
    const rows = tableUnder(api, 'What it serves').map(([cell]) => cell!);
    for (const row of rows) {
      const methods = row.match(/[A-Z]{3,}/g)!;
      for (const route of row.match(/\/[\w/:.-]*/g)!)
        for (const at of new Set([route, route.replace(/^\/v1/, '')])) {
          const { headers } = await fetch(pair.url + at, { method: 'OPTIONS' });
          expect(headers.get('allow')?.split(', '), at).to.include.members(methods);
        }
    }
    await pair.close();
    expect(rows).not.to.deep.equal([]);
  });

  it('names the variables of the environment that --help names', async () => {
    const workshop = new ProcessWorkshop();
    const { stdout } = await workshop.run({ args: ['--help'] });
    await workshop.end();
    const told = running.split('\n').find((line) => line.startsWith('- **Environment**'))!;
    expect(variablesIn(told)).to.deep.equal(variablesIn(stdout));
  });

  it('is one screen, and so is the index of the guides', async () => {
    expect(readme.split('\n').length).to.be.below(80);
    expect((await readFile('config/README.md', 'utf8')).split('\n').length).to.be.below(40);
  });

  for (const file of [
    'README.md',
    'plugins/README.md',
    'plugins/stages.md',
    ...guides,
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'test/README.md',
  ])
    it(`leads somewhere: the links of ${file}`, async () => {
      const text = await readFile(file, 'utf8');
      const targets = [...text.matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)].map(([, target]) => target!);
      for (const target of targets) await access(path.join(path.dirname(file), target));
      if (file === 'README.md') expect(targets).to.include('LICENSE');
    });

  for (const file of guides)
    it(`has the sections that ${file} leads to`, async () => {
      const text = await readFile(file, 'utf8');
      for (const [, target, anchor] of text.matchAll(/\]\(([^)#:\s]*)#([^)]+)\)/g)) {
        const there = target === '' ? file : path.join(path.dirname(file), target!);
        expect(anchorsOf(await readFile(there, 'utf8')), `${there}#${anchor}`).to.include(anchor);
      }
    });

  it('names files that exist in CONTRIBUTING.md and src/README.md', async () => {
    const named = async (file: string, pattern: RegExp, folder: string) =>
      [...(await readFile(file, 'utf8')).matchAll(pattern)].map(([, name]) => path.join(folder, name!));
    const files = [
      ...(await named('CONTRIBUTING.md', /`((?:src|plugins|test)\/[\w./-]+\.tsx?)`/g, '.')),
      ...(await named('src/README.md', /`([a-z]+\/[\w./-]+\.ts)`/g, 'src')),
    ];
    expect(files).to.have.length.above(40);
    for (const file of files.filter((name) => !name.includes('NAME'))) await access(file);
  });

  it('shows how to add things by commits that exist', async function () {
    const hashes = tableUnder(await readFile('CONTRIBUTING.md', 'utf8'), 'How to add …').flatMap(
      ([, , shown = '']) => shown.match(/\b[\da-f]{8}\b/g) ?? [],
    );
    expect(hashes).to.have.length.above(6);
    const git = (...args: string[]) => spawnSync('git', args, { encoding: 'utf8' }).stdout?.trim();
    if (git('rev-parse', '--is-shallow-repository') !== 'false') this.skip(); // no history here
    for (const hash of hashes) expect(git('cat-file', '-t', hash), hash).to.equal('commit');
  });

  describe('gives examples that work as they stand:', () => {
    const folders = new TempFolders();
    const workshop = new ProcessWorkshop();
    let pair: Pair | undefined;
    afterEach(async () => {
      await pair?.close();
      pair = undefined;
      await workshop.end();
      await folders.remove();
    });

    it('four requests, one a format', async () => {
      pair = await startPair();
      const curls = [
        ...readme.matchAll(
          /^curl (\S+) -H "[^"]*" -H 'content-type: application\/json' \\\n {2}-d '([^']*)'$/gm,
        ),
      ];
      expect(curls.map(([, url]) => new URL(url!).pathname)).to.deep.equal([
        '/v1/messages',
        '/v1/chat/completions',
        '/v1/responses',
        '/v1/completions',
      ]);
      for (const [, url, body] of curls) {
        const headers = { authorization: `Bearer ${masterKey}`, 'content-type': 'application/json' };
        const response = await fetch(pair.url + new URL(url!).pathname, {
          method: 'POST',
          headers,
          body: body!,
        });
        expect(response.status).to.equal(200);
        expect(await response.text()).to.include('Hello!');
      }
    });

    it('a plugin', async () => {
      const [, code] = /```js\n(\/\/ \S*polite\.js[^]*?)```/.exec(pluginGuide)!;
      const folder = await folders.make({ 'polite.mjs': code! });
      const [first, second, third, ...rest] = stages();
      pair = await startPair({ pipeline: [first, second, third, { use: `${folder}/polite.mjs` }, ...rest] });
      await pair.post('/v1/messages', ask('Hello!'));
      expect(JSON.stringify(lastCall(pair.simulator)['messages'])).to.include('Please answer politely.');
    });

    it('a slot', async () => {
      const [, slots] = /```yaml\n(slots:[^]*?)```/.exec(readme)!;
      const text = `pipeline: ${JSON.stringify(stages())}\n${slots}`;
      const config = await loadGatewayConfig({ text, file: 'gateway.yaml', env: { TEAM_A_KEY: 'k' } });
      expect(config.slots[0]!.account).to.deep.include({ kind: 'api-key', key: 'k' });
    });

    it('a program that embeds it', async () => {
      const guide = await readFile('config/callers.md', 'utf8');
      const [, code] = /```js\n(import \{ createGateway[^]*?)```/.exec(guide)!;
      const main = code!.replace(`'${packageName}'`, JSON.stringify(path.resolve('dist/index.js')));
      const config = configOf({ slots: [{ id: 'a', upstream: 'simulator' }] });
      const cwd = await workshop.folder({ 'config/gateway.yaml': config, 'main.mjs': main });
      const entry = path.join(cwd, 'main.mjs');
      const running = await workshop.start({ cwd, entry, env: { GW2API_API_KEY: 'k' } });
      const [url] = /^http:\S+$/m.exec(await running.output('http://'))!;
      const answer = await fetch(`${url}/v1/models`, { headers: { 'x-api-key': 'k' } });
      expect(answer.status).to.equal(200);
    });
  });
});

/** Anchors of the headings of a Markdown text. */
function anchorsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}

describe('config/testing.md', () => {
  let guide = '';
  before(async () => void (guide = await readFile('config/testing.md', 'utf8')));

  /** First words of the rows of the table whose head begins with a word. */
  function rowsOf(head: string): readonly string[] {
    const table = guide.slice(guide.indexOf(`\n| ${head} |`) + 1).split('\n\n', 1)[0]!;
    const rows = table.split('\n').filter((line) => line.startsWith('| `'));
    return rows.flatMap((row) => [...row.split('|')[1]!.matchAll(/`([\w-]+)/g)].map(([, name]) => name!));
  }

  it('has every scenario of the simulator', () => {
    const names = [...scenarioHelp().matchAll(/^ {2}(\S+)/gm)].map(([, name]) => name!);
    expect(rowsOf('scenario')).to.deep.equal(names);
  });

  it('has every matcher, and everything that can be expected', () => {
    expect(rowsOf('matcher')).to.have.members(matcherNames);
    const expected = guide.slice(guide.indexOf('## What can be expected')).split('\n\n', 3)[1]!;
    const told = expected
      .split('\n')
      .slice(2)
      .flatMap((row) => row.split('|')[1]!.match(/\w+/g) ?? []);
    expect(told).to.have.members(Object.keys(outcomeFields));
  });

  it('shows a first test that passes, and the failure that follows from its change', async () => {
    const workshop = new ProcessWorkshop();
    const [, text] = /```yaml\n([^]*?)```/.exec(guide)!;
    const files = (content: string) => ({
      'config/gateway.yaml': `pipeline: [{ use: auth }, { use: body-limit }, { use: format-decode }, { use: slot-pick }, { use: upstream-call }, { use: format-encode }]\nslots: [{ id: a, upstream: simulator }]`,
      'config/my.test.yaml': content,
    });
    const passed = await workshop.run({ cwd: await workshop.folder(files(text!)), args: ['test'] });
    const [, shownPass] = /```\n(\$ node dist\/server\.js test\n[^]*?)```/.exec(guide)!;
    const steady = (output: string) => output.replace(/ \(\d+ ms\)/g, '').replace(/\d+ ms/g, '0 ms');
    expect(steady(shownPass!)).to.equal(`$ node dist/server.js test\n${steady(passed.stdout)}`);
    const wrong = text!.replace('401', '200');
    const failed = await workshop.run({ cwd: await workshop.folder(files(wrong)), args: ['test'] });
    const [, shownFailure] = /```\n(1\) [^]*?)```/.exec(guide)!;
    expect(failed.stdout).to.include(shownFailure);
    await workshop.end();
  });
});
