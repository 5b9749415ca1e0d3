import { expect } from 'chai';
import { formatProblem } from '#src/config/config.js';
import { formatKind } from '#src/engine/pipeline/load/format-kind.js';
import { loadEntry, type Loadable, type PluginKind } from '#src/engine/pipeline/load/load-plugin.js';
import { builtinFolder } from '#src/engine/pipeline/load/import/resolve.js';
import { accountKind, upstreamKind } from '#src/engine/pipeline/load/slot-kinds.js';
import { stageKind } from '#src/engine/pipeline/load/stage-kind.js';
import { Workshop } from './workshop.js';

interface Sample {
  readonly name: string;
  readonly kind: PluginKind<Loadable>;
  /** Name and module of the function that defines one. */
  readonly define: string;
  readonly module: string;
  /** Fields of a valid definition. */
  readonly fields: string;
  readonly slip: string;
  readonly meant: string;
}

// Not a fast test: a syntax error is looked for in a thread.
const samples: readonly Sample[] = [
  {
    name: 'stage',
    kind: stageKind,
    define: 'definePlugin',
    module: '@gw2api/gateway/plugin',
    fields: "name: 'mine', setup: () => (ctx, next) => next()",
    slip: 'require',
    meant: 'requires',
  },
  {
    name: 'format',
    kind: formatKind,
    define: 'defineFormat',
    module: '@gw2api/gateway/plugin/format',
    fields: "name: 'mine', routes: [], body: {}, decode() {}, encoder() {}",
    slip: 'keepBytes',
    meant: 'keepsBytes',
  },
  {
    name: 'upstream',
    kind: upstreamKind,
    define: 'defineUpstream',
    module: '@gw2api/gateway/plugin/upstream',
    fields: "name: 'mine', open: () => ({})",
    slip: 'need',
    meant: 'needs',
  },
  {
    name: 'account',
    kind: accountKind,
    define: 'defineAccount',
    module: '@gw2api/gateway/plugin/upstream',
    fields: "name: 'mine', open: () => ({ authorize: () => ({}) })",
    slip: 'option',
    meant: 'options',
  },
];

for (const { name, kind, define, module, fields, slip, meant } of samples)
  describe(`the definition of a ${name}`, () => {
    let workshop: Workshop;
    beforeEach(async () => {
      workshop = await Workshop.open();
      await workshop.write('package.json', '{"type":"module"}');
    });
    afterEach(() => workshop.close());

    const defined = (more: string) =>
      `import { ${define} } from '${module}';\nexport default ${define}({ ${fields}${more} });`;
    const plain = (more: string) => `export default { ${fields}${more} };`;

    async function load(text: string, others: Readonly<Record<string, string>> = {}, use = './mine.js') {
      for (const [file, content] of Object.entries({ ...others, 'mine.js': text }))
        await workshop.write(file, content);
      const at = { file: 'gateway.yaml', line: 2, column: 5 };
      const where = { baseDir: workshop.dir, builtins: builtinFolder };
      const entry = { use, with: {}, path: 'there', positionOf: () => at };
      const { plugin, problems } = await loadEntry(kind, entry, where);
      return { plugin, problems: problems.map(formatProblem) };
    }

    it('may say its level of the plugin API, which is 1', async () => {
      for (const text of [defined(', api: 1'), plain(', api: 1')]) {
        const { plugin, problems } = await load(text);
        expect(problems).to.deep.equal([]);
        expect(plugin?.api).to.equal(1);
      }
    });

    it('is refused for another level', async () => {
      const sentence =
        'has `api: 2`, but the plugin API of this gateway has level 1; use versions of the plugin and of gw2api that fit each other';
      expect((await load(plain(', api: 2'))).problems).to.deep.equal([
        `gateway.yaml:2:5 there.use "./mine.js" ${sentence}`,
      ]);
      const { problems } = await load(defined(', api: 2'));
      expect(problems[0]).to.include(`cannot be loaded: ${name} "mine" ${sentence} (mine.js:2:`);
    });

    it('is refused with a field that there is not', async () => {
      const sentence = `has the unknown field "${slip}"; did you mean "${meant}"?`;
      expect((await load(plain(`, ${slip}: []`))).problems).to.deep.equal([
        `gateway.yaml:2:5 there.use "./mine.js" ${sentence}`,
      ]);
      const { problems } = await load(defined(`, ${slip}: []`));
      expect(problems[0]).to.include(`cannot be loaded: ${name} "mine" ${sentence} (mine.js:2:`);
    });

    it('is refused with a field that resembles none, and told which there are', async () => {
      const { problems } = await load(plain(', colour: 1'));
      expect(problems[0]).to.match(/has the unknown field "colour"; there are name, .*api/);
    });

    it('with a syntax error is told by file and line', async () => {
      const { problems } = await load(`const a = 1;\nexport default { ${fields} colour: a };`);
      expect(problems).to.deep.equal([
        'gateway.yaml:2:5 there.use "./mine.js" cannot be loaded: Unexpected identifier \'colour\' (mine.js:2)',
      ]);
    });

    it('that imports a syntax error, or throws in what it imports, is told by that file and line', async () => {
      const text = `import './lib/sound.js';\n${plain('')}`;
      const sound = "import { fail } from './broken.js';\nfail();";
      const syntax = { 'lib/sound.js': sound, 'lib/broken.js': '\n\nexport function fail() { return ] }' };
      expect((await load(text, syntax)).problems[0]).to.match(/Unexpected token '\]' \(lib\/broken\.js:3\)$/);
      const thrown = {
        ...syntax,
        'lib/broken.js': '\n\nexport function fail() { throw new Error("Gone.") }',
      };
      expect((await load(text, thrown)).problems[0]).to.match(/: Gone\. \(lib\/broken\.js:3:32\)$/);
      const missing = { ...syntax, 'lib/broken.js': '' };
      expect((await load(text, missing)).problems[0]).to.match(/export named 'fail' \(lib\/sound\.js:1\)$/);
    });

    it('with a syntax error in a package is told by the file of the package', async () => {
      const files = {
        'node_modules/their/package.json':
          '{"name":"their","type":"module","exports":{"import":"./main.js"}}',
        'node_modules/their/main.js': "export { default } from './inner.js';",
        'node_modules/their/inner.js': 'export default {\n',
      };
      const { problems } = await load('', files, 'their');
      expect(problems[0]).to.match(/Unexpected end of input \(node_modules\/their\/inner\.js:2\)$/);
    });
  });
