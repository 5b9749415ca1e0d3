import { expect } from 'chai';
import { loadConfig } from '#src/config/load.js';
import { readSource } from '#src/config/document.js';

/** Each level is a list of ten times the one before: nine of them are a billion values. */
const levels = Array.from({ length: 9 }, (_, at) => {
  const items = Array.from({ length: 10 }, () => (at === 0 ? 'x' : `*l${at - 1}`));
  return `l${at}: &l${at} [${items.join(', ')}]`;
});

/** Each map is merged twice into the next one. */
const merges = Array.from({ length: 30 }, (_, at) =>
  at === 0 ? 'm0: &m0 { a: 1, b: 2 }' : `m${at}: &m${at} { <<: [*m${at - 1}, *m${at - 1}], k${at}: 1 }`,
);

describe('a file with aliases', () => {
  for (const [what, lines, line] of [
    ['of a billion values', levels, 4],
    ['merged a billion times', merges, 11],
  ] as const)
    it(`${what} is refused with a sentence`, () => {
      const source = readSource(lines.join('\n'), 'gateway.yaml', {});
      expect(source.value).to.deep.equal({});
      expect(source.errors.map(({ message }) => message)).to.deep.equal([
        'aliases here stand for more than 10000 values; use fewer of them, or write the values out',
      ]);
      expect(source.positionOf([]).line).to.equal(line);
    });

  it('that is a config says so in place of all else', () => {
    const text = `pipeline: [{ use: auth }]\nslots: [{ id: a, upstream: simulator }]\n${levels.join('\n')}`;
    expect(() => loadConfig({ text, file: 'gateway.yaml', env: {} })).to.throw(
      /^gateway\.yaml:6:\d+ aliases here stand for more than 10000 values[^\n]*$/,
    );
  });

  it('is read as before where they are few', () => {
    const text = 'a: &a { b: &b [1, 2], c: *b }\nd: *a\ne: { <<: *a, b: 3 }\nf: &b 4\ng: [*b, *a]';
    const a = { b: [1, 2], c: [1, 2] };
    const { value, errors } = readSource(text, 'gateway.yaml', {});
    expect(errors).to.deep.equal([]);
    expect(value).to.deep.equal({ a, d: a, e: { b: 3, c: [1, 2] }, f: 4, g: [4, a] });
  });

  it('of a thousand places, each for a little, is read in linear time', () => {
    const places = Array.from({ length: 9000 }, (_, at) => `  - { name: n${at}, same: *a }`);
    const { errors } = readSource(`a: &a 1\nlist:\n${places.join('\n')}`, 'gateway.yaml', {});
    expect(errors).to.deep.equal([]);
  });
});
