import { expect } from 'chai';
import { formatProblem } from '#src/config/config.js';
import { readConfig } from '#src/config/load.js';
import { loadSlots } from '#src/engine/pipeline/load/load-slots.js';
import { builtinFolder } from '#src/engine/pipeline/load/import/resolve.js';
import { TempFolders } from '../../whole/temp-folders.js';

/** Kind whose calls add `/chat/completions`, and whose base URL follows from its region, if there is one. */
const regional = `export default {
  name: 'regional',
  needs: ['baseUrl'],
  adds: ['/chat/completions'],
  options: { type: 'object', properties: { region: { type: 'string' } } },
  baseUrl: ({ region }) => region && 'https://' + region + '.upstream.example/v1',
  open: () => ({ generate: async () => { throw new Error('not asked'); } }),
};`;

describe('the base URL of a slot', () => {
  const folders = new TempFolders();
  afterEach(() => folders.remove());

  async function problems(slot: string): Promise<readonly string[]> {
    const folder = await folders.make({ 'regional.mjs': regional });
    const text = `pipeline: [{ use: auth }]\nslots:\n  - { id: a, upstream: ./regional.mjs, ${slot} }\n`;
    const { slots, baseDir, problems: read } = readConfig({ text, file: `${folder}/gateway.yaml`, env: {} });
    const loaded = await loadSlots(slots, { baseDir, builtins: builtinFolder });
    return [...read, ...loaded.problems].map(formatProblem).map((line) => line.replace(folder, ''));
  }

  it('may end in /v1 where its kind does not add that, and never in what the kind adds', async () => {
    expect(await problems('baseUrl: "https://x.example/v1"')).to.deep.equal([]);
    expect(await problems('baseUrl: "https://x.example/v1/chat/completions/"')).to.deep.equal([
      '/gateway.yaml:3:40 slots[0].baseUrl: ends in /chat/completions, which every call adds; remove it',
    ]);
  });

  it('comes from the options of its kind where the slot has none', async () => {
    expect(await problems('with: { region: north }')).to.deep.equal([]);
    expect(await problems('with: {}')).to.deep.equal([
      '/gateway.yaml:3:5 slots[0].baseUrl: is required: the address of the upstream, `https://upstream.example`',
    ]);
  });
});
