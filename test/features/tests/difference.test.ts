import { expect } from 'chai';
import * as fc from 'fast-check';
import { differenceOf, inOneLine } from '#src/features/tests/verb/difference.js';

describe('the difference of two values', () => {
  it('is the changed lines of an object, with a little around them', () => {
    const object = { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7 };
    expect(differenceOf(object, { ...object, d: 0 })).to.deep.equal([
      '    "b": 2,',
      '    "c": 3,',
      '-   "d": 4,',
      '+   "d": 0,',
      '    "e": 5,',
      '    "f": 6,',
    ]);
  });

  it('is the part of a long line where it begins', () => {
    const line = 'x'.repeat(200);
    const [expected, actual] = differenceOf(`${line}a${line}`, `${line}b${line}`)!;
    expect(expected).to.match(/^- …x{30}ax+…$/);
    expect(actual).to.match(/^\+ …x{30}bx+…$/);
  });

  it('is the changed lines of a text', () => {
    expect(differenceOf('a\nb\nc', 'a\nx\nc')).to.deep.equal(['  a', '- b', '+ x', '  c']);
  });

  it('is each of two distant changes, with a mark for the lines between them', () => {
    const lines = Array.from({ length: 60 }, (_, at) => `line ${at}`);
    const changed = lines.with(3, 'first').with(55, 'second');
    expect(differenceOf(lines.join('\n'), changed.join('\n'))).to.deep.equal([
      '  line 1',
      '  line 2',
      '- line 3',
      '+ first',
      '  line 4',
      '  line 5',
      '  …',
      '  line 53',
      '  line 54',
      '- line 55',
      '+ second',
      '  line 56',
      '  line 57',
    ]);
  });

  it('is one line for what is short, of two types, or absent', () => {
    expect(differenceOf('a', 'b')).to.equal(undefined);
    expect(differenceOf({ a: 1 }, 'b')).to.equal(undefined);
    expect(differenceOf({ a: 1 }, undefined)).to.equal(undefined);
  });

  it('turns the one side into the other, for any two texts of lines', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const shown = differenceOf(`${before.join('\n')}\n-`, `${after.join('\n')}\n+`)!;
        const side = (mark: string) =>
          shown.filter((line) => line[0] === ' ' || line[0] === mark).map((line) => line.slice(2));
        const parts = (mark: string) => side(mark).join('\n').split(/^…$/m);
        for (const part of parts('-'))
          expect(`${[...before, '-'].join('\n')}\n`).to.include(part.trimStart());
        for (const part of parts('+')) expect(`${[...after, '+'].join('\n')}\n`).to.include(part.trimStart());
        expect(before.length - side('-').length).to.equal(after.length - side('+').length);
      }),
    );
  });

  it('is bounded, however much there is', () => {
    const numbers = (from: number) => Array.from({ length: 20_000 }, (_, at) => from + at);
    expect(differenceOf(numbers(0), numbers(50_000))).to.have.lengthOf.below(50);
    let deep: unknown = 1;
    for (let depth = 0; depth < 20_000; depth += 1) deep = { deep };
    expect(differenceOf({}, deep)).to.have.lengthOf.below(50);
    expect(inOneLine(deep)).to.have.lengthOf.below(400);
  });
});
