import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';

/** Rooms of src from the top down, each with the rooms that it imports. Imports run down this list only. */
const rooms: Readonly<Record<string, string>> = {
  'server.ts': 'cli',
  'index.ts': 'features gateway config plugin',
  build: '',
  cli: 'features gateway engine config state plugin kit',
  features: 'console operator gateway engine config state plugin kit',
  console: 'operator config plugin',
  operator: 'gateway engine config state plugin kit',
  testing: 'engine state plugin kit',
  gateway: 'engine config state plugin kit',
  engine: 'config state plugin kit',
  config: 'state plugin kit',
  state: 'plugin kit',
  plugin: 'kit',
  kit: '',
};

/** Rooms within `engine` and `features`, each with those beside it that it imports; the others import none. */
const inside: Readonly<Record<string, string>> = {
  'engine/http': 'engine/masking engine/trace',
  'engine/pipeline': 'engine/trace',
  'engine/slots': 'engine/masking engine/models engine/transport',
  'features/explain': 'features/dry-run',
  'features/canary': 'features/pipeline',
  'features/replay': 'features/dry-run',
  'features/tests': 'features/dry-run',
};

/** Files that may do nothing but hand on names: the doors, and what a feature is. */
const doors =
  /^(?:index|plugin\/(?:(?:format|upstream|raw)\/)?(?:index|core)|testing\/index|features\/[^/]+\/index)\.ts$/;

describe('the house', () => {
  const files = (readdirSync('src', { recursive: true }) as string[]).filter((file) => /\.tsx?$/.test(file));
  const arrows = files.flatMap((from) => importsOf(from).map((to) => ({ from, to })));
  const isClimb = ({ from, to }: Arrow) => order(from) > order(to);
  const downwards = arrows.filter((arrow) => !isClimb(arrow));

  it('has a room for each file', () => {
    expect(files.filter((file) => order(file) < 0)).to.deep.equal([]);
  });

  it('has these arrows between its rooms, all of them used, and none that runs up', () => {
    expect(linksOf(downwards, roomOf)).to.deep.equal(listed(rooms));
    expect(arrows.filter(isClimb)).to.deep.equal([]);
  });

  it('has these arrows within engine and features', () => {
    const within = downwards.filter(
      ({ from, to }) =>
        roomOf(from) === roomOf(to) &&
        /^(?:engine|features)\/[^/]+\//.test(from) && // the lists of the features import them
        to !== 'features/feature.ts',
    );
    expect(linksOf(within, innerRoomOf)).to.deep.equal(listed(inside));
  });

  it('has no circle of files', () => {
    const left = new Map(files.map((file) => [file, importsOf(file)]));
    const isEnd = ([, to]: readonly [string, readonly string[]]) => !to.some((file) => left.has(file));
    for (let ends = [...left].filter(isEnd); ends.length > 0; ends = [...left].filter(isEnd))
      for (const [file] of ends) left.delete(file);
    expect([...left.keys()]).to.deep.equal([]);
  });

  it('has no file that only hands on names, but for its doors', () => {
    const handing = files.filter((file) =>
      /^(?:\s*(?:\/\*[\s\S]*?\*\/|\/\/.*|export (?:type )?(?:\*|\{[^}]*\}) from '[^']*';))+\s*$/.test(
        textOf(file),
      ),
    );
    expect(handing.filter((file) => !doors.test(file))).to.deep.equal([]);
  });

  it('enters plugin by its doors, whose fifth has at most a hundred names', () => {
    const entering = arrows.filter(({ from, to }) => to.startsWith('plugin/') && !from.startsWith('plugin/'));
    expect(entering.filter(({ to }) => !doors.test(to))).to.deep.equal([]);
    const names = [...textOf('plugin/core.ts').matchAll(/\{([^}]*)\}/g)].flatMap(([, list = '']) =>
      list.split(',').filter((name) => name.trim()),
    );
    expect(names.length).to.be.at.most(100);
  });
});

interface Arrow {
  readonly from: string;
  readonly to: string;
}

function textOf(file: string): string {
  return readFileSync(path.join('src', file), 'utf8');
}

/** Files of src that a file imports: types and `import()` count. */
function importsOf(file: string): readonly string[] {
  const found = textOf(file).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.{1,2}\/[^']+)'/g);
  return [...found].flatMap(([, specifier = '']) => {
    const stem = path.join(path.dirname(file), specifier).replace(/\.js$/, '');
    return [`${stem}.ts`, `${stem}.tsx`].filter((name) =>
      statSync(path.join('src', name), { throwIfNoEntry: false }),
    );
  });
}

function roomOf(file: string): string {
  return file.split('/')[0] ?? '';
}

function innerRoomOf(file: string): string {
  return file.split('/').slice(0, 2).join('/');
}

function order(file: string): number {
  return Object.keys(rooms).indexOf(roomOf(file));
}

function linksOf(arrows: readonly Arrow[], room: (file: string) => string): readonly string[] {
  const links = arrows
    .map(({ from, to }) => [room(from), room(to)] as const)
    .filter(([from, to]) => from !== to);
  return [...new Set(links.map(([from, to]) => `${from} -> ${to}`))].toSorted();
}

function listed(table: Readonly<Record<string, string>>): readonly string[] {
  const links = Object.entries(table).flatMap(([from, to]) =>
    to
      .split(' ')
      .filter(Boolean)
      .map((room) => `${from} -> ${room}`),
  );
  return links.toSorted();
}
