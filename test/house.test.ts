import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';

/** Modules of src from the top down, each with those that it imports. Imports run down this list only. */
const modules: Readonly<Record<string, string>> = {
  'server.ts': 'cli',
  'index.ts': 'features gateway config plugin',
  build: '',
  cli: 'features testing gateway engine config state plugin kit',
  features: 'console operator gateway engine config state plugin kit',
  console: 'operator config plugin kit',
  operator: 'gateway engine config state plugin kit',
  testing: 'engine state plugin kit',
  gateway: 'engine config state plugin kit',
  engine: 'config state plugin kit',
  config: 'state plugin kit',
  state: 'plugin kit',
  plugin: 'kit',
  kit: '',
};

/** Folders within `engine` and `features`, with their neighbours that they import; files beside the folders are free. */
const inside: Readonly<Record<string, string>> = {
  'engine/http': 'engine/masking engine/trace',
  'engine/isolation': 'engine/models engine/trace',
  'engine/pipeline': 'engine/isolation engine/trace',
  'engine/slots': 'engine/masking engine/models engine/transport',
  'features/canary': 'features/pipeline',
  'features/explain': 'features/dry-run',
  'features/replay': 'features/dry-run',
  'features/tests': 'features/dry-run',
};

/** The module of a file at depth 1, its folder within the module at depth 2. */
const part = (file: string, depth: number) => file.split('/').slice(0, depth).join('/');

/** Public modules, and `plugin/core.ts`, for the rest of src: they may do nothing but re-export names. */
const publicModules =
  /^(?:index|plugin\/(?:(?:format|upstream|raw|remote)\/)?(?:index|core)|testing\/index)\.ts$/;

describe('the modules of src', () => {
  const files = (readdirSync('src', { recursive: true }) as string[]).filter((file) => /\.tsx?$/.test(file));
  const texts = new Map(files.map((file) => [file, readFileSync(path.join('src', file), 'utf8')]));
  const imports = files.flatMap((from) => importsOf(from, texts).map((to) => [from, to] as const));
  const order = (file: string) => Object.keys(modules).indexOf(part(file, 1));

  it('include each file', () => {
    expect(files.filter((file) => order(file) < 0)).to.deep.equal([]);
  });

  it('have these imports, all of them used, and none that runs up', () => {
    expect(linksOf(imports, 1)).to.deep.equal(listed(modules));
    expect(imports.filter(([from, to]) => order(from) > order(to))).to.deep.equal([]);
  });

  it('have these imports within engine and features', () => {
    const own = imports.filter(([from]) => /^(?:engine|features)\/[^/]+\//.test(from));
    const within = own.filter(([from, to]) => part(from, 1) === part(to, 1) && to !== 'features/feature.ts');
    expect(linksOf(within, 2)).to.deep.equal(listed(inside));
  });

  it('have no import cycles', () => {
    let left = new Set(files);
    const next = () =>
      new Set(imports.flatMap(([from, to]) => (left.has(from) && left.has(to) ? [from] : [])));
    for (let found = next(); found.size < left.size; found = next()) left = found;
    expect([...left]).to.deep.equal([]);
  });

  it('have no file that only re-exports names, except the public modules', () => {
    const found = files.filter((file) => !publicModules.test(file) && isReexport(texts.get(file) ?? ''));
    expect(found).to.deep.equal([]);
  });

  it('import plugin through its public modules and its core, which has at most a hundred names', () => {
    const entering = imports.filter(([from, to]) => part(to, 1) === 'plugin' && part(from, 1) !== 'plugin');
    expect(entering.filter(([, to]) => !publicModules.test(to))).to.deep.equal([]);
    const lists = texts.get('plugin/core.ts')?.match(/(?<=\{)[^}]*(?=\})/g) ?? [];
    const names = lists.flatMap((list) => list.split(',').filter((name) => name.trim()));
    expect(names.length).to.be.within(1, 100);
  });
});

describe('the modules of plugins', () => {
  it('do not only re-export names', () => {
    const files = (readdirSync('plugins', { recursive: true }) as string[]).filter((file) =>
      file.endsWith('.ts'),
    );
    const found = files.filter((file) => isReexport(readFileSync(path.join('plugins', file), 'utf8')));
    expect(files).to.include(path.join('upstreams', 'simulator', 'server.ts'));
    expect(found).to.deep.equal([]);
  });
});

describe('the scripts of package.json', () => {
  it('compile the modules of build that they run', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: Record<string, string>;
    };
    const running = Object.keys(scripts).filter((name) => scripts[name]!.includes('node build/'));
    const withCalled = (name: string): string =>
      (scripts[name] ?? '').replace(/npm run --silent ([\w:]+)/g, (_, called: string) => withCalled(called));
    const uncompiled = running.filter(
      (name) => !`${withCalled(`pre${name}`)} ${scripts[name]}`.includes('tsc -b'),
    );
    expect(uncompiled).to.deep.equal([]);
    expect(running).to.include.members(['build:reference', 'build:providers']);
  });
});

/** True for a text that consists of `export … from` and comments. */
function isReexport(text: string): boolean {
  return /^(?:\s*(?:\/\*[\s\S]*?\*\/|\/\/.*|export (?:type )?(?:\*|\{[^}]*\}) from '[^']*';))+\s*$/.test(
    text,
  );
}

/** Files of src that a file imports: types and `import()` count. */
function importsOf(file: string, texts: ReadonlyMap<string, string>): readonly string[] {
  const found = texts.get(file)?.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.{1,2}\/[^']+)'/g) ?? [];
  const stems = [...found].map(([, name = '']) => path.join(path.dirname(file), name).replace(/\.js$/, ''));
  return stems.flatMap((stem) => [`${stem}.ts`, `${stem}.tsx`].filter((name) => texts.has(name)));
}

function linksOf(imports: readonly (readonly string[])[], depth: number): readonly string[] {
  const links = imports.map((pair) => [...new Set(pair.map((file) => part(file, depth)))].join(' -> '));
  return [...new Set(links.filter((link) => link.includes(' ')))].toSorted();
}

function listed(table: Readonly<Record<string, string>>): readonly string[] {
  const rows = Object.entries(table).filter(([, to]) => to !== '');
  return rows.flatMap(([from, to]) => to.split(' ').map((module) => `${from} -> ${module}`)).toSorted();
}
