import { expect } from 'chai';
import { formatProblem } from '#src/config/config.js';
import { builtinNames } from '#src/engine/pipeline/load/import/resolve.js';
import {
  loadBuiltins,
  loadEntry,
  loadPlugin,
  type PluginKind,
} from '#src/engine/pipeline/load/load-plugin.js';
import { Workshop } from '../workshop.js';

interface Brush {
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly width: number;
}

const brushKind: PluginKind<Brush> = {
  folder: 'brushes',
  expected: 'a brush',
  fields: 'name and width',
  define(exported) {
    const { name, width, options = {} } = (exported ?? {}) as Partial<Brush>; // of any shape
    return name === undefined || width === undefined ? undefined : { name, width, options };
  },
};

const brush = (name: string, more = {}) => `export default ${JSON.stringify({ name, width: 1, ...more })};`;

describe('a plugin of any kind', () => {
  let workshop: Workshop;
  beforeEach(async () => {
    workshop = await Workshop.open();
    await workshop.write('package.json', '{"type":"module"}');
    await workshop.write('builtins/brushes/flat.js', brush('flat'));
    await workshop.write('builtins/brushes/fan/index.js', brush('fan'));
    await workshop.write('builtins/brushes/shared/index.js', brush('shared'));
    await workshop.write('builtins/brushes/notes/read.js', 'export {};');
  });
  afterEach(() => workshop.close());

  const where = () => ({ baseDir: workshop.dir, builtins: workshop.builtins });
  const load = (use: string) => loadPlugin(brushKind, use, where()).catch(({ message }: Error) => message);

  it('is a file or a folder with an index; shared/ is none', async () => {
    expect((await builtinNames(workshop.builtins, 'brushes')).toSorted()).to.deep.equal(['fan', 'flat']);
    expect((await loadBuiltins(brushKind, where())).map(({ name }) => name)).to.have.members(['fan', 'flat']);
    expect(await load('fan')).to.include({ name: 'fan' });
    expect(await load('flat')).to.include({ name: 'flat' });
  });

  it('is no built-in of another kind', async () => {
    expect(await load('auth')).to.match(/^is neither a built-in nor an installed npm package/);
    expect(await load('flat2')).to.match(/did you mean "flat"\?$/);
  });

  it('may lie beside the config, or be a package', async () => {
    await workshop.write('mine.js', brush('mine'));
    await workshop.write('node_modules/round/package.json', '{"type":"module","main":"index.js"}');
    await workshop.write('node_modules/round/index.js', brush('round'));
    expect(await load('./mine.js')).to.include({ name: 'mine' });
    expect(await load('round')).to.include({ name: 'round' });
  });

  it('must be of its kind', async () => {
    await workshop.write('stage.js', 'export default { name: "stage", setup() {} };');
    expect(await load('./stage.js')).to.equal(
      'must export default a brush, but its default is an object with name, setup instead of name and width',
    );
  });

  it('has its options checked where they stand', async () => {
    const properties = { size: { type: 'integer', default: 3 } };
    const options = { type: 'object', properties, additionalProperties: false };
    await workshop.write('mine.js', brush('mine', { options }));
    const at = (use: string, given: Record<string, unknown>) =>
      loadEntry(
        brushKind,
        {
          use,
          with: given,
          usePath: ['brush', 'kind'],
          withPath: ['brush'],
          path: 'slots[0]',
          positionOf: (path) => ({ file: 'f.yaml', line: path.length, column: 1 }),
        },
        where(),
      );
    expect((await at('./mine.js', {})).options).to.deep.equal({ size: 3 });
    expect((await at('./mine.js', { sizes: 1 })).problems.map(formatProblem)).to.deep.equal([
      'f.yaml:2:1 slots[0].brush.sizes: is not a known key; did you mean "size"?',
    ]);
    expect((await at('./min.js', {})).problems.map(formatProblem)).to.deep.equal([
      'f.yaml:2:1 slots[0].brush.kind "./min.js" is not there; did you mean "mine.js"?',
    ]);
  });
});
