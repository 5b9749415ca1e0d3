import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { sections } from '#src/config/sections/sections.js';
import { factsOfConfig, type Facts } from './facts.js';
import { keyLines } from './key-lines.js';
import { writeReference } from './reference.js';
import { writeTables } from './tables.js';

describe('the words of config/gateway.reference.yaml', () => {
  let text = '';
  let facts: Facts;
  before(async () => {
    text = await readFile('config/gateway.reference.yaml', 'utf8');
    facts = await factsOfConfig();
  });

  it('are what `npm run build:reference` makes of the schemas', () => {
    expect(writeReference(text, facts) === text, 'run npm run build:reference').to.equal(true);
  });

  it('are there for each setting of a section', () => {
    const names = Object.keys(sections);
    const settings = [...facts].filter(([path]) => names.includes(path.replace(/\..*$/, '')));
    const mute = settings.filter(
      ([path, { words }]) => words === undefined && /^(?!live|.*\.tls)\w+\./.test(path),
    );
    expect(mute.map(([path]) => path)).to.deep.equal([]);
  });

  it('come back with their key and its default where a setting of a section is taken out', () => {
    const lines = text.split('\n');
    const settings = keyLines(text, () => false).filter(
      ({ path, line, end }) =>
        line === end && Object.hasOwn(sections, path.replace(/\..*$/, '')) && path.includes('.'),
    );
    const lasting = settings.filter(({ path }) => !path.endsWith('.tls')); // it has neither default nor example
    expect(lasting).to.have.length.above(50);
    for (const { path, line } of lasting) {
      let from = line;
      while (lines[from - 1]?.trimStart().startsWith('#')) from -= 1;
      const without = lines.toSpliced(from, line + 1 - from).join('\n');
      expect(writeReference(without, facts) === text, path).to.equal(true);
    }
  });

  it('say the default that a schema has, where the text has another one', () => {
    const other = text
      .replace('backlog: 4096', 'backlog: 1')
      .replace('scopes: [openid, email, profile]', 'scopes: []');
    expect(other).not.to.equal(text);
    expect(writeReference(other, facts)).to.equal(text);
  });

  it('leave comments by hand and examples as they are', () => {
    const own = text
      .replace('# Who asks:', '# Whoever asks:')
      .replace('maxConcurrent: 50', 'maxConcurrent: 51');
    expect(own).not.to.equal(text);
    expect(writeReference(own, facts)).to.equal(own);
  });
});

describe('the tables of settings in config/*.md', () => {
  const guides = readdirSync('config').filter((file) => file.endsWith('.md'));

  it('are what `npm run build:reference` makes of the schemas', async () => {
    const facts = await factsOfConfig();
    for (const guide of guides) {
      const text = await readFile(`config/${guide}`, 'utf8');
      expect(writeTables(text, facts) === text, `${guide}: run npm run build:reference`).to.equal(true);
    }
  });

  it('have each setting of the sections once', async () => {
    const texts = await Promise.all(guides.map((guide) => readFile(`config/${guide}`, 'utf8')));
    const rows = [...texts.join('\n').matchAll(/^\| `([\w.]+)` \|.*\| (?:reload|restart) \|/gm)];
    const facts = [...(await factsOfConfig())].filter(([, { words }]) => words !== undefined);
    const settings = facts.flatMap(([path]) =>
      Object.hasOwn(sections, path.replace(/\..*$/, '')) || path.startsWith('slots.') ? [path] : [],
    );
    expect(rows.map(([, path]) => path)).to.have.members([...settings, 'slots']);
  });
});
