import { expect } from 'chai';
import { stageKind } from '#src/engine/pipeline/load/stage-kind.js';
import { loadPlugin } from '#src/engine/pipeline/load/load-plugin.js';
import { builtinFolder } from '#src/engine/pipeline/load/import/resolve.js';
import { Workshop } from '../workshop.js';

describe('the schema of the options of a plugin', () => {
  let workshop: Workshop;
  beforeEach(async () => void (workshop = await Workshop.open()));
  afterEach(() => workshop.close());

  async function loaded(options: object): Promise<string> {
    const plugin = `{ name: 'mine', options: ${JSON.stringify(options)}, setup: () => (_, next) => next() }`;
    await workshop.write('mine.mjs', `export default ${plugin};`);
    const where = { baseDir: workshop.dir, builtins: builtinFolder };
    return loadPlugin(stageKind, './mine.mjs', where).then(
      () => 'loaded',
      ({ message }: Error) => message,
    );
  }

  for (const [options, message] of [
    [
      { type: 'object', properties: { word: { type: 'string', maxLenght: 3 } } },
      'has the keyword "maxLenght" in its schema of options.word; did you mean "maxLength"?',
    ],
    [
      { type: 'object', propertys: { word: { type: 'string' } } },
      'has the keyword "propertys" in its schema of options; did you mean "properties"?',
    ],
    [
      { type: 'object', properties: { words: { type: 'array', items: { anyOf: [{ patern: 'a' }] } } } },
      'has the keyword "patern" in its schema of options.words; did you mean "pattern"?',
    ],
  ] as const)
    it(`is a problem of the config where it is ${JSON.stringify(options)}`, async () => {
      expect(await loaded(options)).to.equal(message);
    });

  it('may have options by the names of keywords, values of any kind, and notes of its author', async () => {
    const properties = {
      maxLenght: { type: 'string', default: { patern: 1 }, 'x-order': 2, widget: 'area' },
    };
    expect(await loaded({ type: 'object', properties })).to.equal('loaded');
  });
});
