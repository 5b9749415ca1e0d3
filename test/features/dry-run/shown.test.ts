import { expect } from 'chai';
import { withoutSecrets } from '#src/features/dry-run/secret-texts.js';
import { concealed, shown } from '#src/features/dry-run/shown.js';

describe('a value in a report', () => {
  it('is whole where it is small', () => {
    const value = { role: 'user', content: [{ type: 'text', text: 'hi' }], n: null };
    expect(shown(value)).to.deep.equal(value);
  });

  it('is shortened where it is a long text, with its length', () => {
    const text = String(shown('word '.repeat(1000)));
    expect(text).to.match(/^word .*5000 characters/s);
    expect(text).to.have.length.below(300);
  });

  it('is never base64', () => {
    const data = Buffer.from('x'.repeat(9000)).toString('base64');
    expect(shown({ source: { type: 'base64', data } })).to.deep.equal({
      source: { type: 'base64', data: '‹base64, 12000 characters›' },
    });
    expect(shown(`data:image/png;base64,${data}`)).to.match(/^‹base64, /);
  });

  it('has an end, however long and deep the value is', () => {
    expect(JSON.stringify(shown(Array.from({ length: 1000 }, () => 1)))).to.include('988 more');
    expect(JSON.stringify(shown({ a: { b: { c: { d: { e: 1 } } } } }))).to.include('object of 1 fields');
  });

  it('tells no more than the length where it is hidden', () => {
    expect(concealed('a@example.com')).to.equal('‹hidden, 13 characters›');
  });

  it('has no secret in another encoding', () => {
    const secret = 'pä"ss wörd/+ 5';
    const encoded = [
      ...['', 'a', 'ab', 'abc'].flatMap((user) =>
        (['base64', 'base64url'] as const).map((form) => Buffer.from(`${user}${secret}:end`).toString(form)),
      ),
      encodeURIComponent(secret),
      encodeURIComponent(secret).toLowerCase(),
      String(new URLSearchParams({ key: secret })),
      JSON.stringify({ key: secret }),
    ];
    for (const text of encoded) {
      const cleaned = withoutSecrets(text, [secret]);
      expect(cleaned, text).to.include('***');
      expect(cleaned.length, text).to.be.below(25);
    }
    expect(withoutSecrets('of a word of their own', [secret])).to.equal('of a word of their own');
  });

  it('has no part of a secret that shortening has cut', () => {
    const secret = 'a secret of many words, for it is a sentence';
    const text = `${'x '.repeat(70)}${secret}${' y'.repeat(200)}${secret}${' z'.repeat(10)}`;
    const cleaned = withoutSecrets(String(shown(text)), [secret]);
    expect(cleaned).to.match(/x \*\*\* ‹… \d+ characters …› \*\*\* z/);
    expect(cleaned).not.to.match(/secret|sentence/);
  });
});
