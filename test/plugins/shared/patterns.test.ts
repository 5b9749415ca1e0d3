import { expect } from 'chai';
import { compilePatterns, firstMatch, replaceMatches, type PatternChoice } from '#plugins/shared/patterns.js';
import { SearchTime } from '#plugins/shared/search-time.js';

/** What the patterns find in a text. */
function found(text: string, ...choices: readonly PatternChoice[]): readonly string[] {
  const values: string[] = [];
  replaceMatches(compilePatterns(choices), text, (_, value) => (values.push(value), ''));
  return values;
}

describe('the known patterns', () => {
  it('find mail addresses', () => {
    const text = 'Ask jo.doe+x@mail.example.com, or <a@b.io>. Not @here, a@b, x@y.z1 or foo@bar..com.';
    expect(found(text, 'email')).to.deep.equal(['jo.doe+x@mail.example.com', 'a@b.io']);
  });

  it('find card numbers by their checksum', () => {
    const text =
      'Pay 4111 1111 1111 1111 or 5500-0000-0000-0004, not 4111111111111112, 1234 or 41111111111111111111111.';
    expect(found(text, 'card')).to.deep.equal(['4111 1111 1111 1111', '5500-0000-0000-0004']);
  });

  it('find bank accounts by their checksum, whatever word follows', () => {
    const text = 'GB82 WEST 1234 5698 7654 32 AND DE89370400440532013000, not GB82 WEST 1234 5698 7654 33.';
    expect(found(text, 'iban')).to.deep.equal(['GB82 WEST 1234 5698 7654 32', 'DE89370400440532013000']);
  });

  it('find phone numbers, and no dates, versions or amounts', () => {
    const text = 'Call +49 30 901820, (030) 901820, 555-123-4567 or (555) 123-4567.';
    expect(found(text, 'phone')).to.deep.equal([
      '+49 30 901820',
      '(030) 901820',
      '555-123-4567',
      '(555) 123-4567',
    ]);
    expect(found('On 2026-11-22 at 10:30, v1.20.300, 1000000 or 0.5 of 1,000.', 'phone')).to.deep.equal([]);
  });

  it('search a text that is made to slow them down in the time that any takes', () => {
    const plain = secondsFor('lorem ipsum dolor sit amet, '.repeat(40_000));
    for (const text of [
      'a',
      '1',
      '1 ',
      'a@',
      'a.',
      'GB82 ',
      'AB12 3456 7890 ',
      '+1 ',
      '030 12 ',
      '(',
      'a@b.',
    ])
      expect(secondsFor(text.repeat(1_100_000 / text.length)), text).to.be.below(100 * plain + 10);
  });
});

function secondsFor(text: string): number {
  const cpu = process.cpuUsage();
  found(text, 'email', 'card', 'phone', 'iban');
  return process.cpuUsage(cpu).user / 1e6;
}

describe('patterns of an operator', () => {
  const employee = { name: 'employee', pattern: String.raw`\bEMP-\d{6}\b` };

  it('are in the syntax of RE2', () => {
    expect(found('EMP-123456, TEMP-123456, EMP-1234567', employee)).to.deep.equal(['EMP-123456']);
    expect(found('A a', { name: 'a', pattern: '(?i)a' })).to.deep.equal(['A', 'a']);
  });

  it('that are none are refused, by their place', () => {
    for (const pattern of ['(', '(?=a)', String.raw`(a)\1`])
      expect(() => compilePatterns(['email', { name: 'x', pattern }])).to.throw(
        /^patterns\[1\]\.pattern: .*RE2/,
      );
  });

  it('cannot be made to take exponential time', () => {
    expect(found('a'.repeat(20_000), { name: 'evil', pattern: '(a+)+$' })).to.have.length(1);
    expect(found(`${'a'.repeat(20_000)}b`, { name: 'evil', pattern: '(?:a|aa)+$' })).to.deep.equal([]);
  });

  it('that match nothing at a place replace nothing there', () => {
    expect(found('bab a', { name: 'x', pattern: String.raw`\b(?:ba)?` })).to.deep.equal(['ba']);
  });

  for (const pattern of ['a*', '(a*b)?', 'a|', '^', '$', String.raw`(?:\d+ ?)*`])
    it(`are refused where they match the empty text: ${pattern}`, () => {
      expect(() => compilePatterns([{ name: 'x', pattern }])).to.throw(
        'patterns[0].pattern: matches the empty text, which is everywhere; let it need a character',
      );
    });

  /** Matches of a pattern in texts that share one limit, by a clock that goes on by `stepMs` when it is read. */
  function matchesIn(texts: readonly string[], pattern: string, stepMs: number): number {
    let nowMs = 0;
    const time = new SearchTime(() => (nowMs += stepMs));
    const patterns = compilePatterns([{ name: 'evil', pattern }]);
    let count = 0;
    for (const text of texts) replaceMatches(patterns, text, () => ((count += 1), ''), time);
    return count;
  }

  it('have a time limit for all texts of a request', () => {
    const texts = Array.from({ length: 20 }, () => 'a'.repeat(50));
    expect(matchesIn(texts, 'a(?:.*x)?', 0.1)).to.equal(1000);
    const late = /^The texts of this request take too long to search for the pattern "evil"/;
    expect(() => matchesIn(texts, 'a(?:.*x)?', 1)).to.throw(late);
    expect(() => matchesIn([texts.join('')], 'a(?:.*x)?', 1), 'in one text').to.throw(late);
    expect(() => matchesIn(['a '.repeat(1000)], String.raw`\b(?:.*x)?`, 1), 'matching nothing').to.throw(
      late,
    );
  });

  it('have more time for a longer text', () => {
    expect(matchesIn(['a'.repeat(500) + ' '.repeat(1e6)], 'a', 1)).to.equal(500);
  });
});

describe('several patterns', () => {
  const [a, ab] = compilePatterns([
    { name: 'a', pattern: 'a' },
    { name: 'ab', pattern: 'b?ab' },
  ]);

  it('are matched from left to right, the first pattern first', () => {
    expect(firstMatch([a!, ab!], 'xxab', 0)).to.deep.equal({ name: 'a', start: 2, end: 3 });
    expect(firstMatch([a!, ab!], 'xbab', 0)).to.deep.equal({ name: 'ab', start: 1, end: 4 });
    expect(firstMatch([a!, ab!], 'xbab', 4)).to.equal(undefined);
    expect(replaceMatches([a!, ab!], 'a bab a', ({ name }) => `<${name}>`)).to.equal('<a> <ab> <a>');
  });

  it('search a text once each, however much they find', () => {
    let searched = 0;
    const never = { name: 'never', find: (text: string) => ((searched += text.length), undefined) };
    const text = 'a'.repeat(10_000);
    expect(replaceMatches([never, a!], text, () => 'b')).to.equal('b'.repeat(10_000));
    expect(searched).to.equal(text.length);
  });
});
