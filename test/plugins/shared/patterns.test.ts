import { expect } from 'chai';
import { compilePatterns, firstMatch, replaceMatches, type PatternChoice } from '#plugins/shared/patterns.js';
import { SearchTime } from '#plugins/shared/search-time.js';

/** What the patterns find in a text. */
async function found(text: string, ...choices: readonly PatternChoice[]): Promise<readonly string[]> {
  const values: string[] = [];
  const time = new SearchTime(() => 0);
  await replaceMatches(compilePatterns(choices), [text], (_, value) => (values.push(value), ''), time);
  return values;
}

describe('the known patterns', () => {
  it('find mail addresses', async () => {
    const text = 'Ask jo.doe+x@mail.example.com, or <a@b.io>. Not @here, a@b, x@y.z1 or foo@bar..com.';
    expect(await found(text, 'email')).to.deep.equal(['jo.doe+x@mail.example.com', 'a@b.io']);
  });

  it('find mail addresses whole, with letters of any script and the signs that RFC 5322 allows', async () => {
    for (const address of [
      'jürgen@example.com',
      'ju\u0308rgen@example.com',
      "o'neil@example.com",
      'почта@пример.рф',
      '田中@example.co.jp',
      'संपर्क@example.in',
      '𝒋𝒐@example.com',
      'jo@bücher.example',
      'jo@example.xn--p1ai',
      'bounce+jo=example.com@lists.example.com',
      "a!b#c$d%e&f'g*h/i=j?k^l_m`n{o|p}q~r@example.com",
    ])
      for (const text of [address, `Ask ${address}.`, `(${address}), <${address}>`, `'${address}'`])
        expect(new Set(await found(text, 'email')), text).to.deep.equal(new Set([address]));
  });

  it('find mail addresses without the signs around them', async () => {
    for (const text of [
      "'a@b.com'",
      '`a@b.com`',
      '**a@b.com**',
      "x='a@b.com'",
      '|a@b.com|',
      '{a@b.com}',
      '/?a@b.com&',
    ])
      expect(await found(text, 'email'), text).to.deep.equal(['a@b.com']);
    expect(await found("She said 'ask o'neil@b.com', 'not a@b'.", 'email')).to.deep.equal(["o'neil@b.com"]);
    expect(await found('a@b.com谢谢, https://x.example/@jo.doe, x/@scope.name', 'email')).to.deep.equal([
      'a@b.com',
    ]);
  });

  it('find the end of a local part that is too long', async () => {
    const [address = ''] = await found(`${'x/'.repeat(40)}jo@example.com`, 'email');
    expect(address)
      .to.match(/^[x/]+jo@example\.com$/)
      .and.to.have.length(64 + '@example.com'.length);
  });

  it('find card numbers by their checksum', async () => {
    const text =
      'Pay 4111 1111 1111 1111 or 5500-0000-0000-0004, not 4111111111111112, 1234 or 41111111111111111111111.';
    expect(await found(text, 'card')).to.deep.equal(['4111 1111 1111 1111', '5500-0000-0000-0004']);
  });

  for (const after of [' 123', ' 12/27', ' 5 items', ' 1 2 3', '-123', '-12345', '-abc', ' 12345', ', 12'])
    it(`find a card number before "${after}"`, async () => {
      for (const card of [
        '4111 1111 1111 1111',
        '4111-1111-1111-1111',
        '4111111111111111',
        '378282246310005',
      ])
        expect(await found(`Pay ${card}${after}`, 'card')).to.deep.equal([card]);
    });

  it('find all of a card number whose begin fits the digits before it by chance', async () => {
    expect(await found('Pay 14 4111 1111 1111 1111 now', 'card')).to.deep.equal(['14 4111 1111 1111 1111']);
    expect(await found('4111 1111 1111 1111 5500 0000 0000 0004', 'card')).to.deep.equal([
      '4111 1111 1111 1111',
      '5500 0000 0000 0004',
    ]);
  });

  it('find the longest card number of a run of groups', async () => {
    expect(await found('4222222222222 4 4', 'card')).to.deep.equal(['4222222222222']);
    expect(await found('6304 0000 0000 0000 125', 'card')).to.deep.equal(['6304 0000 0000 0000 125']);
  });

  it('find bank accounts by their checksum, whatever word follows', async () => {
    const text = 'GB82 WEST 1234 5698 7654 32 AND DE89370400440532013000, not GB82 WEST 1234 5698 7654 33.';
    expect(await found(text, 'iban')).to.deep.equal([
      'GB82 WEST 1234 5698 7654 32',
      'DE89370400440532013000',
    ]);
  });

  it('find phone numbers, and no dates, versions or amounts', async () => {
    const text = 'Call +49 30 901820, (030) 901820, 555-123-4567 or (555) 123-4567.';
    expect(await found(text, 'phone')).to.deep.equal([
      '+49 30 901820',
      '(030) 901820',
      '555-123-4567',
      '(555) 123-4567',
    ]);
    expect(await found('On 2026-11-22 at 10:30, v1.20.300, 1000000 or 0.5 of 1,000.', 'phone')).to.deep.equal(
      [],
    );
  });

  it('search a text that is made to slow them down in the time that any takes', async () => {
    const plain = await secondsFor('lorem ipsum dolor sit amet, '.repeat(40_000));
    for (const text of [
      'a',
      '1',
      '1 ',
      '1-',
      '4111 1111 1111 1112 ',
      'a@',
      'a.',
      'GB82 ',
      'AB12 3456 7890 ',
      '+1 ',
      '030 12 ',
      '(',
      'a@b.',
      "a'",
      "a'@b.",
      'ü',
      'ü@ü.',
      `${'ü'.repeat(64)}@`,
      `a@${'b.'.repeat(12)}`,
      `a@${'ü'.repeat(63)}`,
    ])
      expect(await secondsFor(text.repeat(1_100_000 / text.length)), text).to.be.below(100 * plain + 10);
  });
});

async function secondsFor(text: string): Promise<number> {
  const cpu = process.cpuUsage();
  await found(text, 'email', 'card', 'phone', 'iban');
  return process.cpuUsage(cpu).user / 1e6;
}

describe('patterns of an operator', () => {
  const employee = { name: 'employee', pattern: String.raw`\bEMP-\d{6}\b` };

  it('are in the syntax of RE2', async () => {
    expect(await found('EMP-123456, TEMP-123456, EMP-1234567', employee)).to.deep.equal(['EMP-123456']);
    expect(await found('A a', { name: 'a', pattern: '(?i)a' })).to.deep.equal(['A', 'a']);
  });

  it('that are none are refused, by their place', () => {
    for (const pattern of ['(', '(?=a)', String.raw`(a)\1`])
      expect(() => compilePatterns(['email', { name: 'x', pattern }])).to.throw(
        /^patterns\[1\]\.pattern: .*RE2/,
      );
  });

  it('cannot be made to take exponential time', async () => {
    expect(await found('a'.repeat(20_000), { name: 'evil', pattern: '(a+)+$' })).to.have.length(1);
    expect(await found(`${'a'.repeat(20_000)}b`, { name: 'evil', pattern: '(?:a|aa)+$' })).to.deep.equal([]);
  });

  it('that match nothing at a place replace nothing there', async () => {
    expect(await found('bab a', { name: 'x', pattern: String.raw`\b(?:ba)?` })).to.deep.equal(['ba']);
  });

  for (const pattern of ['a*', '(a*b)?', 'a|', '^', '$', String.raw`(?:\d+ ?)*`])
    it(`are refused where they match the empty text: ${pattern}`, () => {
      expect(() => compilePatterns([{ name: 'x', pattern }])).to.throw(
        'patterns[0].pattern: matches the empty text, which occurs everywhere; require a character',
      );
    });

  /** Matches of a pattern in texts that share one limit, by a clock that goes on by `stepMs` when it is read. */
  async function matchesIn(texts: readonly string[], pattern: string, stepMs: number): Promise<number> {
    let nowMs = 0;
    const time = new SearchTime(() => (nowMs += stepMs));
    const patterns = compilePatterns([{ name: 'evil', pattern }]);
    let count = 0;
    await replaceMatches(patterns, texts, () => ((count += 1), ''), time);
    return count;
  }

  it('have a time limit for all texts of a request', async () => {
    const texts = Array.from({ length: 20 }, () => 'a'.repeat(50));
    expect(await matchesIn(texts, 'a(?:.*x)?', 0.1)).to.equal(1000);
    for (const [given, pattern] of [
      [texts, 'a(?:.*x)?'],
      [[texts.join('')], 'a(?:.*x)?'],
      [['a '.repeat(1000)], String.raw`\b(?:.*x)?`],
    ] as const) {
      const late = await matchesIn(given, pattern, 10).then(String, String);
      expect(late).to.match(/Searching this request for the pattern "evil"/);
    }
  });

  it('have one time limit for all searches of a request, whose turns do not count', async () => {
    const owner = {};
    let nowMs = 0;
    const now = () => (nowMs += 1);
    const [a] = compilePatterns([{ name: 'a', pattern: 'a' }]);
    const search = () => replaceMatches([a!], ['a'.repeat(100)], () => 'b', SearchTime.of(owner, now));
    let searches = 0;
    const failure: unknown = await (async () => {
      for (; searches < 100; searches += 1) await search();
    })().catch((error: unknown) => error);
    expect(failure).to.include({ code: 'invalid_request', status: 400 });
    expect(searches).to.be.within(3, 10);
    expect(SearchTime.of(owner, now).isOver).to.equal(true);
    expect(await search().then(String, String)).to.include('takes too long');
    expect(SearchTime.of({}, now).isOver).to.equal(false);
  });

  it('find the same in a long text as in a short one, wherever its pieces are cut', async () => {
    const choices = [
      'email',
      'card',
      { name: 'own', pattern: String.raw`\bproject\s+[a-z]+$|^x|id-\d+` },
    ] as const;
    const patterns = compilePatterns(choices);
    const values = ['jo.doe@example.com', '4111 1111 1111 1111', `id-${'7'.repeat(1500)}`, 'x'];
    for (let at = 16_384 - 1600; at < 16_384 + 40; at += 61) {
      const text = `${'lorem '.repeat(at / 6)}${values.join(' ')}${' ipsum'.repeat(6000)} project bird`;
      const expected: string[] = [];
      for (let from = 0; ;) {
        const match = firstMatch(patterns, text, from);
        if (!match) break;
        expected.push(text.slice(match.start, match.end));
        from = match.end;
      }
      expect(expected).to.have.length(4);
      expect(await found(text, ...choices)).to.deep.equal(expected);
    }
  });

  it('widen the piece for a match that it would cut', async () => {
    const text = `${' '.repeat(16_000)}a${'b'.repeat(50_000)}c `;
    expect(await found(text, { name: 'x', pattern: 'ab+c?' })).to.deep.equal([text.trim()]);
  });
});

describe('several patterns', () => {
  const [a, ab] = compilePatterns([
    { name: 'a', pattern: 'a' },
    { name: 'ab', pattern: 'b?ab' },
  ]);

  it('are matched from left to right, the first pattern first', async () => {
    expect(firstMatch([a!, ab!], 'xxab', 0)).to.deep.equal({ name: 'a', start: 2, end: 3 });
    expect(firstMatch([a!, ab!], 'xbab', 0)).to.deep.equal({ name: 'ab', start: 1, end: 4 });
    expect(firstMatch([a!, ab!], 'xbab', 4)).to.equal(undefined);
    const time = new SearchTime(() => 0);
    const replaced = await replaceMatches([a!, ab!], ['a bab a'], ({ name }) => `<${name}>`, time);
    expect(replaced).to.deep.equal(['<a> <ab> <a>']);
  });

  it('search a text once each, however much they find', async () => {
    let searched = 0;
    const never = { name: 'never', find: (text: string) => ((searched += text.length), undefined) };
    const text = 'a'.repeat(10_000);
    const replaced = await replaceMatches([never, a!], [text], () => 'b', new SearchTime(() => 0));
    expect(replaced).to.deep.equal(['b'.repeat(10_000)]);
    expect(searched).to.equal(text.length);
  });
});
