import { expect } from 'chai';
import { parse } from 'yaml';
import { compileExpectation } from '#src/features/tests/expectation.js';
import { matcherNames } from '#src/features/tests/matchers.js';
import { outcomeShape, type Shape } from '#src/features/tests/outcome-shape.js';
import type { Mismatch } from '#src/features/tests/mismatch.js';

/** Mismatches of a value with an expectation in YAML. */
function mismatches(expected: string, actual: unknown, shape: Shape = 'json'): readonly Mismatch[] {
  const problems: unknown[] = [];
  const check = compileExpectation({ value: parse(expected), at: ['expect'], shape }, (problem) =>
    problems.push(problem),
  );
  expect(problems).to.deep.equal([]);
  return check(actual, '');
}

function holds(expected: string, actual: unknown): boolean {
  return mismatches(expected, actual).length === 0;
}

/** What is wrong with an expectation of a whole outcome, as `path: message`. */
function problemsOf(expected: string): readonly string[] {
  const problems: string[] = [];
  const written = { value: parse(expected) as unknown, at: [], shape: outcomeShape, isOutcome: true };
  compileExpectation(written, ({ path, message }) => problems.push(`${path.join(' ')}: ${message}`));
  return problems;
}

describe('an expectation', () => {
  const cases: readonly (readonly [expected: string, good: unknown, bad: unknown])[] = [
    ['1', 1, 2],
    ['1', 1, '1'],
    ['-0', 0, 1],
    ['null', null, undefined],
    ['{ a: 1 }', { a: 1, b: 2 }, { a: 2, b: 2 }],
    ['{ a.b: 1 }', { a: { b: 1 } }, { a: { b: 2 } }],
    ['{ a.b: 1 }', { 'a.b': 1 }, { 'a.b': 2, a: { b: 1 } }],
    ['{ "a[1].b": 1 }', { a: [{}, { b: 1 }] }, { a: [{ b: 1 }] }],
    ['{ a.1.b: 1 }', { a: [{}, { b: 1 }] }, { a: [{ b: 1 }] }],
    ['{ "a[-1]": 1 }', { a: [2, 1] }, { a: [1, 2] }],
    ['[1, 2]', [1, 2], [1, 2, 3]],
    ['[{ a: 1 }]', [{ a: 1, b: 2 }], [{ b: 2 }]],
    ['{ matches: "^c.*l$" }', 'careful', 'carefully'],
    ['{ matches: "1" }', '1', 1],
    ['{ contains: are }', 'careful', 'cruel'],
    ['{ contains: { name: x } }', [{ name: 'y' }, { name: 'x', id: 1 }], [{ name: 'y' }]],
    ['{ contains: a }', { a: undefined }, { b: 1 }],
    ['{ contains: a }', ['a'], ['ab']],
    ['{ not: 1 }', 2, 1],
    ['{ not: { contains: x } }', 'abc', 'axc'],
    ['{ any: [1, { above: 5 }] }', 6, 5],
    ['{ all: [{ contains: a }, { contains: b }] }', 'ab', 'a'],
    ['{ above: 1 }', 2, 1],
    ['{ above: 1 }', 2, '2'],
    ['{ below: 1 }', 0, 1],
    ['{ above: 1, below: 3 }', 2, 3],
    ['{ between: [1, 3] }', 3, 4],
    ['{ absent: true }', undefined, null],
    ['{ absent: false }', null, undefined],
    ['{ a: { absent: true } }', {}, { a: 1 }],
    ['{ length: 2 }', 'ab', 'abc'],
    ['{ length: { above: 1 } }', [1, 2], [1]],
    ['{ length: 1 }', { a: 1 }, 1],
    ['{ equal: { a: 1 } }', { a: 1 }, { a: 1, b: 2 }],
    ['{ equal: { matches: x } }', { matches: 'x' }, 'x'],
  ];
  for (const [expected, good, bad] of cases)
    it(`${expected} takes ${JSON.stringify(good)} and not ${JSON.stringify(bad)}`, () => {
      expect(holds(expected, good)).to.equal(true);
      expect(holds(expected, bad)).to.equal(false);
    });

  it('has a case for each matcher', () => {
    const text = cases.map(([expected]) => expected).join(' ');
    expect(matcherNames.filter((name) => !text.includes(`${name}:`))).to.deep.equal([]);
  });

  it('names each place that differs, and no other', () => {
    const found = mismatches('{ a: { b: 1, c: 2 }, d: [1, { e: 1 }] }', {
      a: { b: 1, c: 3 },
      d: [1, { e: 2 }],
    });
    expect(found.map(({ at, path, actual }) => [at.join(' '), path, actual])).to.deep.equal([
      ['expect a c', 'a.c', 3],
      ['expect d 1 e', 'd[1].e', 2],
    ]);
  });

  it('shows a list of another length as a whole', () => {
    const [found] = mismatches('{ a: [1] }', { a: [1, 2] });
    expect(found).to.deep.include({ path: 'a', expected: [1], actual: [1, 2] });
  });

  it('suggests what may have been meant by a key that is not there', () => {
    expect(mismatches('{ usgae: 1 }', { usage: 1 })[0]).to.have.property('hint', 'did you mean "usage"?');
    expect(mismatches('{ a: { macthes: x } }', {})[0]).to.have.property('hint', 'did you mean "matches"?');
    expect(mismatches('{ a: null }', {})[0]?.hint).to.include('{ absent: true }');
  });

  it('matches a pattern that is slow elsewhere in linear time', () => {
    expect(holds('{ matches: "^(a+)+$" }', `${'a'.repeat(50_000)}b`)).to.equal(false);
  });

  const wrongs: readonly (readonly [expected: string, problem: string])[] = [
    ['{ staus: 200 }', 'staus: is not a known key: "staus"; did you mean "status"?'],
    ['{ usage.shwon.input: 1 }', 'usage.shwon.input: is not a known key: "shwon"; did you mean "shown"?'],
    [
      '{ usage: { shown: { inputs: 1 } } }',
      'usage shown inputs: is not a known key: "inputs"; did you mean "input"?',
    ],
    ['{ text: { macthes: x } }', 'text macthes: is not a matcher; did you mean "matches"?'],
    [
      '{ answer: { a: { matches: x, contians: y } } }',
      'answer a contians: is not a matcher, but stands beside one; did you mean',
    ],
    ['{ slot: [a, b] }', 'slot: must not be a list here; write { any: […] }'],
    ['{ text: { matches: "(?=x)" } }', 'text matches: is not a regular expression in the syntax of RE2'],
    ['{ text: { matches: 1 } }', 'text matches: must be a regular expression'],
    ['{ attempts: { above: x } }', 'attempts above: must be a number'],
    ['{ attempts: { not: { above: .nan } } }', 'attempts not above: must be a number'],
    ['{ text: { not: { contains: { matches: x } } } }', 'text not contains: must be a text'],
    [
      '{ answer: { model: { not: { matchs: x } } } }',
      'answer model not matchs: is not a matcher; did you mean "matches"?',
    ],
    ['{ headers: { X-Id: { absent: true } } }', 'headers X-Id: names the header "X-Id"; write "x-id"'],
    ['{ outgoing.-1.headers.X-Id: { absent: true } }', 'outgoing.-1.headers.X-Id: names the header "X-Id"'],
    ['{ attempts: { between: [3, 1] } }', 'attempts between: must be two numbers'],
    ['{ attempts: { any: 1 } }', 'attempts any: must be a list'],
    ['{ attempts: { absent: 1 } }', 'attempts absent: must be true or false'],
    ['{ text: { length: x } }', 'text length: must be a number, or a matcher'],
    ['{ "slots.": 1 }', 'slots.: is not a path'],
    ['{ events.first: 1 }', 'events.first: names "first" within a list; write [n], or a matcher'],
    ['{ matches: x }', 'matches: is not a known key'],
    [`${'{ answer: '.repeat(1)}${'{ a: '.repeat(70)}1${' }'.repeat(71)}`, 'is nested deeper than 64 levels'],
  ];
  for (const [expected, problem] of wrongs)
    it(`${expected.slice(0, 60)} is refused`, () => {
      expect(problemsOf(expected).join('\n')).to.include(problem);
    });
});
