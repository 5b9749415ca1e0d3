import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { errorCodes } from 'gw2api/plugin';
import { parse } from 'yaml';
import { loadGatewayConfig } from '#src/load-gateway-config.js';
import { ProcessWorkshop } from './gateway/gateway-process.js';
import { configOf, slotAt, stages, startGateway, startPair } from './gateway/harness.js';
import { startHeldUpstream } from './gateway/held-upstream.js';
import { TempFolders } from './gateway/temp-folders.js';

const readme = await readFile('README.md', 'utf8');
describe('the documentation', () => {
  const folders = new TempFolders();
  const workshop = new ProcessWorkshop();
  after(async () => {
    await folders.remove();
    await workshop.end();
  });

  /** The rows of the table that has this first column, each a list of its cells without their quotes. */
  function table(firstColumn: string): readonly (readonly string[])[] {
    const lines = readme.split('\n');
    const head = lines.findIndex((line) => line.startsWith(`| ${firstColumn} |`));
    const end = lines.findIndex((line, at) => at > head && !line.startsWith('|'));
    const rows = lines.slice(head + 2, end).map((row) => row.split('|').slice(1, -1));
    return rows.map((cells) => cells.map((cell) => cell.trim().replaceAll('`', '')));
  }

  /** The fenced block of a language that has this in it. */
  function block(language: string, part: string): string {
    const blocks = [...readme.matchAll(/^```(\w+)\n([^]*?)^```$/gm)];
    const found = blocks.find(([, kind, text]) => kind === language && text!.includes(part));
    if (!found) throw new Error(`README.md has no ${language} with "${part}"`);
    return found[2]!;
  }

  describe('README.md', () => {
    it('has fewer than 200 lines', () => {
      expect(readme.split('\n').length).to.be.lessThan(200);
    });

    it('has every error code with its status, and no other', () => {
      const told = table('code').map(([code, status]) => [code, Number(status)]);
      expect(told).to.have.deep.members(
        Object.entries(errorCodes).map(([code, { status }]) => [code, status]),
      );
    });

    it('has every stage, in the order of the config that ships', async () => {
      const files = (await readdir('plugins')).filter((file) => file.endsWith('.ts'));
      const { pipeline } = parse(await readFile('config/gateway.yaml', 'utf8')) as {
        pipeline: { use: string }[];
      };
      const told = table('stage').map(([stage]) => stage!);
      expect(told.toSorted()).to.deep.equal(files.map((file) => path.basename(file, '.ts')).toSorted());
      expect(told).to.deep.equal(pipeline.map(({ use }) => use));
    });

    it('draws the stages as they stand', () => {
      const [, picture = ''] = /^```\n( caller[^]*?)^```$/m.exec(readme) ?? [];
      const names = table('stage').map(([stage]) => stage!);
      const words = picture.match(/[a-z]+(?:-[a-z]+)*/g) ?? [];
      const [down, back] = [words.filter((word) => names.includes(word)).slice(0, 10), names.slice(10)];
      expect(down).to.deep.equal(names.slice(0, 10));
      expect(words).to.include.members(back);
    });

    it('has four requests that work as they stand', async () => {
      const pair = await startPair();
      const text = block('sh', 'curl').replaceAll('\\\n', '');
      const curls = [...text.matchAll(/^curl http:\/\/127\.0\.0\.1:8787(\S+) .*-d '(.*)'$/gm)];
      expect(curls.map(([, asked]) => asked)).to.deep.equal([
        '/v1/messages',
        '/v1/chat/completions',
        '/v1/responses',
        '/v1/completions',
      ]);
      for (const [line, asked, body] of curls) {
        expect(line).to.include(`-H "authorization: Bearer $KEY" -H 'content-type: application/json'`);
        const answer = await pair.post(asked!, JSON.parse(body!));
        expect(answer.status, asked).to.equal(200);
        expect(await answer.text()).to.include('Hello!');
      }
      await pair.close();
    });

    it('has a plugin that works as it stands', async () => {
      const code = block('js', 'my-plugins/polite.js');
      const upstream = await startHeldUpstream();
      const [auth, limit, decode, ...rest] = stages();
      const pipeline = [auth, limit, decode, { use: './my-plugins/polite.js' }, ...rest];
      const folder = await folders.make({
        'my-plugins/polite.js': code,
        'gateway.yaml': configOf({ slots: [slotAt(upstream.url)], pipeline }),
      });
      const under = await startGateway(path.join(folder, 'gateway.yaml'));
      const response = under.post('/v1/responses', { model: 'sonnet-5', input: 'Hi' });
      const call = await upstream.next();
      expect(call.text).to.include('Please answer politely.');
      call.finish();
      expect((await response).status).to.equal(200);
      await under.close();
      await upstream.close();
    });

    it('has a slot that fits into a config', async () => {
      const text = `pipeline: ${JSON.stringify(stages())}\n${block('yaml', 'slots:')}`;
      const config = await loadGatewayConfig({ text, file: 'gateway.yaml', env: { TEAM_A_KEY: 'k' } });
      expect(config.slots[0]!.account).to.deep.include({ kind: 'api-key', key: 'k' });
    });

    it('has an example of embedding that runs', async () => {
      const cwd = await workshop.folder({
        'config/gateway.yaml': configOf({ slots: [{ id: 'a', upstream: 'simulator' }] }),
        'main.mjs': block('js', 'createGateway').replace(
          "'gw2api'",
          JSON.stringify(path.resolve('dist/index.js')),
        ),
      });
      const running = await workshop.start({
        cwd,
        entry: path.join(cwd, 'main.mjs'),
        env: { GW2API_API_KEY: 'k' },
      });
      const url = /^http:\S+$/m.exec(await running.output('http://'))![0];
      expect((await fetch(`${url}/v1/models`, { headers: { 'x-api-key': 'k' } })).status).to.equal(200);
    });

    it('names the variables of the environment that --help names', async () => {
      const { stdout } = await workshop.run({ args: ['--help'] });
      const line = readme.split('\n').find((text) => text.startsWith('- **Environment**'))!;
      expect(variablesIn(line)).to.deep.equal(variablesIn(stdout));
    });
  });

  function variablesIn(text: string): readonly string[] {
    return [...new Set(text.match(/\b(?:GW2?[A-Z]*_[A-Z_]+|PORT|HOST)\b/g))].toSorted();
  }

  describe('the documents', () => {
    for (const file of ['README.md', 'plugins/README.md', 'CHANGELOG.md'])
      it(`lead nowhere that is not there: ${file}`, async () => {
        const text = await readFile(file, 'utf8');
        const links = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target]) => target!);
        for (const target of links.filter((link) => !/^[a-z]+:/.test(link)))
          expect((await stat(path.join(path.dirname(file), target))).size, target).to.be.greaterThan(0);
      });
  });
});
