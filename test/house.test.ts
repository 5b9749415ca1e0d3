import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';

/** Rooms of src from the top down, each with the rooms that it imports. Imports run down this list only. */
const rooms: Readonly<Record<string, string>> = {
  'server.ts': 'cli',
  'index.ts': 'features gateway config plugin',
  build: '',
  cli: 'features gateway engine config state plugin kit',
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

/** Rooms within `engine` and `features` with those beside them that they import; lists beside the rooms are free. */
const inside: Readonly<Record<string, string>> = {
  'engine/http': 'engine/masking engine/trace',
  'engine/pipeline': 'engine/trace',
  'engine/slots': 'engine/masking engine/models engine/transport',
  'features/canary': 'features/pipeline',
  'features/explain': 'features/dry-run',
  'features/replay': 'features/dry-run',
  'features/tests': 'features/dry-run',
};

/** A room for the first part of a path, a room within it for the first two. */
const part = (file: string, depth: number) => file.split('/').slice(0, depth).join('/');

/** Files that may do nothing but hand on names. */
const doors = /^(?:index|plugin\/(?:(?:format|upstream|raw)\/)?(?:index|core)|testing\/index)\.ts$/;

describe('the house', () => {
  const files = (readdirSync('src', { recursive: true }) as string[]).filter((file) => /\.tsx?$/.test(file));
  const texts = new Map(files.map((file) => [file, readFileSync(path.join('src', file), 'utf8')]));
  const arrows = files.flatMap((from) => importsOf(from, texts).map((to) => [from, to] as const));
  const order = (file: string) => Object.keys(rooms).indexOf(part(file, 1));

  it('has a room for each file', () => {
    expect(files.filter((file) => order(file) < 0)).to.deep.equal([]);
  });

  it('has these arrows between its rooms, all of them used, and none that runs up', () => {
    expect(linksOf(arrows, 1)).to.deep.equal(listed(rooms));
    expect(arrows.filter(([from, to]) => order(from) > order(to))).to.deep.equal([]);
  });

  it('has these arrows within engine and features', () => {
    const own = arrows.filter(([from]) => /^(?:engine|features)\/[^/]+\//.test(from));
    const within = own.filter(([from, to]) => part(from, 1) === part(to, 1) && to !== 'features/feature.ts');
    expect(linksOf(within, 2)).to.deep.equal(listed(inside));
  });

  it('has no circle of files', () => {
    let left = new Set(files);
    const next = () =>
      new Set(arrows.flatMap(([from, to]) => (left.has(from) && left.has(to) ? [from] : [])));
    for (let found = next(); found.size < left.size; found = next()) left = found;
    expect([...left]).to.deep.equal([]);
  });

  it('has no file that only hands on names, but for its doors', () => {
    const handing =
      /^(?:\s*(?:\/\*[\s\S]*?\*\/|\/\/.*|export (?:type )?(?:\*|\{[^}]*\}) from '[^']*';))+\s*$/;
    const found = files.filter((file) => !doors.test(file) && handing.test(texts.get(file) ?? ''));
    expect(found).to.deep.equal([]);
  });

  it('enters plugin by its doors, whose fifth has at most a hundred names', () => {
    const entering = arrows.filter(([from, to]) => part(to, 1) === 'plugin' && part(from, 1) !== 'plugin');
    expect(entering.filter(([, to]) => !doors.test(to))).to.deep.equal([]);
    const lists = texts.get('plugin/core.ts')?.match(/(?<=\{)[^}]*(?=\})/g) ?? [];
    const names = lists.flatMap((list) => list.split(',').filter((name) => name.trim()));
    expect(names.length).to.be.within(1, 100);
  });
});

/** Files of src that a file imports: types and `import()` count. */
function importsOf(file: string, texts: ReadonlyMap<string, string>): readonly string[] {
  const found = texts.get(file)?.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.{1,2}\/[^']+)'/g) ?? [];
  const stems = [...found].map(([, name = '']) => path.join(path.dirname(file), name).replace(/\.js$/, ''));
  return stems.flatMap((stem) => [`${stem}.ts`, `${stem}.tsx`].filter((name) => texts.has(name)));
}

function linksOf(arrows: readonly (readonly string[])[], depth: number): readonly string[] {
  const links = arrows.map((arrow) => [...new Set(arrow.map((file) => part(file, depth)))].join(' -> '));
  return [...new Set(links.filter((link) => link.includes(' ')))].toSorted();
}

function listed(table: Readonly<Record<string, string>>): readonly string[] {
  const rows = Object.entries(table).filter(([, to]) => to !== '');
  return rows.flatMap(([from, to]) => to.split(' ').map((room) => `${from} -> ${room}`)).toSorted();
}
