import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'chai';

describe('the slow tests', () => {
  it('are named with a reason in test/README.md, and few', async () => {
    const ending = '.full.test.ts';
    const files = (await readdir('test', { recursive: true })).filter((name) => name.endsWith(ending));
    const text = await readFile('test/README.md', 'utf8');
    const [, table = ''] = /^\| slow tests \| reason \|\n.*\n((?:\|.*\n)+)/m.exec(text) ?? [];
    const named = [...table.matchAll(/^\| `(.+)` \| .+ \|$/gm)].map(([, name]) => `${name}${ending}`);
    expect(named).to.have.members(files);
    expect(files.length).to.be.at.most(25);
  });
});
