import { symlink, utimes } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { importModule } from '#src/engine/pipeline/load/import/resolve.js';
import { Workshop } from '../../workshop.js';

describe('a plugin by its path', () => {
  let workshop: Workshop;
  beforeEach(async () => {
    workshop = await Workshop.open();
    await workshop.write('package.json', '{"type":"module"}');
  });
  afterEach(() => workshop.close());

  type Exports = Readonly<Record<string, unknown>>;

  async function load(use = './mine.js'): Promise<Exports> {
    return (await importModule(use, { baseDir: workshop.dir, builtins: workshop.builtins })) as Exports;
  }

  const faultOf = (use?: string) =>
    load(use).then(
      () => 'none',
      ({ message }: Error) => message,
    );

  it('is the same module as long as nothing of it has changed', async () => {
    await workshop.write('mine.js', `import { made } from './lib/made.js'; export default made;`);
    await workshop.write('lib/made.js', 'export const made = {};');
    const before = await load();
    expect(await load()).to.equal(before);
  });

  it('is loaded again with an edited file that it imports, and that one imports', async () => {
    await workshop.write('mine.js', `export { text as default } from './lib/a.js';`);
    await workshop.write('lib/a.js', `import { word } from './deep/b.js'; export const text = 'a ' + word;`);
    await workshop.write('lib/deep/b.js', `export const word = 'before';`);
    expect((await load())['default']).to.equal('a before');
    await workshop.write('lib/deep/b.js', `export const word = 'after';`);
    expect((await load())['default']).to.equal('a after');
  });

  it('takes an edited module that it imports while it runs', async () => {
    await workshop.write('mine.js', `export default async (name) => (await import('./' + name)).default;`);
    await workshop.write('late.js', `export default 'before';`);
    const late = async () => ((await load())['default'] as (name: string) => Promise<string>)('late.js');
    expect(await late()).to.equal('before');
    await workshop.write('late.js', `export default 'after';`);
    expect(await late()).to.equal('after');
  });

  it('leaves what has not changed as it is, for the plugins beside it too', async () => {
    await workshop.write('mine.js', `import { kept } from './kept.js'; export default { kept, v: 1 };`);
    await workshop.write('other.js', `import { kept } from './kept.js'; export default { kept };`);
    await workshop.write('kept.js', 'export const kept = {};');
    const other = await load('./other.js');
    await load();
    await workshop.write('mine.js', `import { kept } from './kept.js'; export default { kept, v: 2 };`);
    const { default: mine } = await load();
    expect(mine).to.deep.equal({ kept: {}, v: 2 });
    expect((mine as Exports)['kept']).to.equal((other['default'] as Exports)['kept']);
    expect(await load('./other.js')).to.equal(other);
  });

  it('has modules that import each other', async () => {
    await workshop.write(
      'mine.js',
      `import { b } from './b.js'; export const a = 1; export default () => b();`,
    );
    await workshop.write('b.js', `import { a } from './mine.js'; export const b = () => 'before ' + a;`);
    const run = async () => ((await load())['default'] as () => string)();
    expect(await run()).to.equal('before 1');
    await workshop.write('b.js', `import { a } from './mine.js'; export const b = () => 'after ' + a;`);
    expect(await run()).to.equal('after 1');
  });

  it('in CommonJS is loaded again with what it requires, from a module too', async () => {
    await workshop.write('mine.cjs', `module.exports = require('./lib/word.cjs');`);
    await workshop.write('mine.js', `import word from './lib/word.cjs'; export default word;`);
    await workshop.write('lib/word.cjs', `module.exports = require('./inner.cjs').word;`);
    await workshop.write('lib/inner.cjs', `exports.word = 'before';`);
    const both = async () => [(await load())['default'], (await load('./mine.cjs'))['default']];
    expect(await both()).to.deep.equal(['before', 'before']);
    await workshop.write('lib/inner.cjs', `exports.word = 'after';`);
    expect(await both()).to.deep.equal(['after', 'after']);
  });

  it('in CommonJS is the same module as long as nothing of it has changed', async () => {
    await workshop.write('mine.cjs', `module.exports = { inner: require('./inner.cjs') };`);
    await workshop.write('inner.cjs', 'module.exports = {};');
    const before = await load('./mine.cjs');
    expect((await load('./mine.cjs'))['default']).to.equal(before['default']);
  });

  it('shares the packages, and files outside of its folder, with the rest of the process', async () => {
    await workshop.write('node_modules/their/package.json', '{"type":"module","main":"index.js"}');
    await workshop.write('node_modules/their/index.js', 'export const their = {};');
    await workshop.write('outside.js', 'export const outside = {};');
    const text = (at: number) =>
      `import { their } from 'their'; import { outside } from '../outside.js'; export default [${at}, their, outside];`;
    await workshop.write('plugins/mine.js', text(1));
    const [, ...before] = (await load('./plugins/mine.js'))['default'] as unknown[];
    await workshop.write('plugins/mine.js', text(2));
    const [version, ...after] = (await load('./plugins/mine.js'))['default'] as unknown[];
    expect(version).to.equal(2);
    expect(after[0]).to.equal(before[0]);
    expect(after[1]).to.equal(before[1]);
    const { outside } = (await import(path.join(workshop.dir, 'outside.js'))) as Exports;
    expect(after[1]).to.equal(outside);
  });

  it('behind a link is that of the file that the link leads to', async () => {
    await workshop.write('real/mine.js', `export { word as default } from './word.js';`);
    await workshop.write('real/word.js', `export const word = 'before';`);
    await symlink(path.join(workshop.dir, 'real/mine.js'), path.join(workshop.dir, 'mine.js'));
    expect((await load())['default']).to.equal('before');
    await workshop.write('real/word.js', `export const word = 'after';`);
    expect((await load())['default']).to.equal('after');
  });

  it('that has failed is tried again, though nothing of it has changed', async () => {
    await workshop.write('mine.js', `import './lib.js'; import 'their'; export default 1;`);
    await workshop.write('lib.js', `if (!globalThis.isReadyForTest) throw new Error('Not yet.');`);
    expect(await faultOf()).to.match(/^cannot be loaded: Cannot find package 'their'/);
    await workshop.write('node_modules/their/package.json', '{"type":"module","main":"index.js"}');
    await workshop.write('node_modules/their/index.js', '');
    expect(await faultOf()).to.equal('cannot be loaded: Not yet. (lib.js:1:39)');
    Object.assign(globalThis, { isReadyForTest: true });
    expect((await load())['default']).to.equal(1);
    Reflect.deleteProperty(globalThis, 'isReadyForTest');
  });

  it('that was touched is loaded again', async () => {
    await workshop.write('mine.js', 'export default {};');
    const before = await load();
    const later = new Date(Date.now() + 5_000);
    await utimes(path.join(workshop.dir, 'mine.js'), later, later);
    expect(await load()).not.to.equal(before);
  });

  describe('in TypeScript', () => {
    const isStripped = 'typescript' in process.features && Boolean(process.features.typescript);

    it(isStripped ? 'is loaded' : 'is refused with the way to compile it', async () => {
      await workshop.write('mine.ts', `import { word } from './word.ts'; export default word as string;`);
      await workshop.write('word.ts', `export const word: string = 'before';`);
      if (!isStripped) {
        const { node } = process.versions;
        const compile = 'npx tsc --ignoreConfig --module nodenext --target es2023 --skipLibCheck mine.ts';
        expect(await faultOf('./mine.ts')).to.equal(
          `is TypeScript, which Node ${node} does not load: compile it with \`${compile}\` and list mine.js, or run Node 22.18 or later`,
        );
        return;
      }
      expect((await load('./mine.ts'))['default']).to.equal('before');
      await workshop.write('word.ts', `export const word: string = 'after';`);
      expect((await load('./mine.ts'))['default']).to.equal('after');
      await workshop.write('word.ts', `export const word: string = ;`);
      expect(await faultOf('./mine.ts')).to.match(/\(word\.ts:1\)$/);
    });

    it(isStripped ? 'is meant by its name alone' : 'is not meant by its name alone', async () => {
      await workshop.write('mine.ts', 'export default {};');
      const cure = isStripped
        ? 'did you mean "mine.ts"?'
        : 'paths are relative to the folder of the config file';
      expect(await faultOf('./mine.js')).to.equal(`is not there; ${cure}`);
    });
  });
});
