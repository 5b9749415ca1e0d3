import { readFileSync } from 'node:fs';
import { expect } from 'chai';

describe('the public modules of the plugin API', () => {
  it('list their names one by one', () => {
    for (const folder of ['', 'format/', 'upstream/', 'raw/'])
      expect(sourceOf(folder)).to.not.include('export *');
  });

  it('stay small: 163 names for stages, 80 more for formats and upstreams, 24 of byte tools', () => {
    const stages = namesOf('');
    const more = [...namesOf('format/'), ...namesOf('upstream/')].filter((name) => !stages.has(name));
    expect(stages.size).to.be.at.most(163);
    expect(new Set(more).size).to.be.at.most(80);
    expect(namesOf('raw/').size).to.be.at.most(24);
  });
});

function namesOf(folder: string): ReadonlySet<string> {
  const lists = [...sourceOf(folder).matchAll(/^export (?:type )?\{([^}]*)\}/gm)];
  const names = lists.flatMap(([, list = '']) => list.split(',').map((name) => name.trim()));
  expect(names).to.have.length.above(10);
  return new Set(names.filter((name) => name !== ''));
}

function sourceOf(folder: string): string {
  return readFileSync(`src/plugin/${folder}index.ts`, 'utf8');
}
