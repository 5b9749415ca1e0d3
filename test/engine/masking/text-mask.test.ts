import { expect } from 'chai';
import { callerSecrets } from '#src/engine/masking/caller-secrets.js';
import { textMask } from '#src/engine/masking/text-mask.js';

const key = 'k7Qm2xV9pLw4Rt8Zb1Nc';
const max = 300;

/** Text of `length` characters without anything that could be masked. */
function words(length: number): string {
  return 'many words '.repeat(Math.ceil(length / 11)).slice(0, length);
}

describe('a text mask', () => {
  const mask = textMask([key]);

  it('leaves a text without secrets as it is', () => {
    for (const text of [
      'prompt is too long: 212345 tokens > 200000 maximum',
      'messages.1.content.0: Invalid `signature` in `thinking` block',
      'max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for model-5-20990101',
      'No slot that serves the model "sonnet-5" takes requests: "a" is cooling down.',
      'authentication_error: invalid x-api-key; Bearer token is missing, basic authentication is not supported',
      'Request 123e4567-e89b-12d3-a456-426614174000 (req_011CSHoEeqs5C35K2UUqR7Fy) failed: see https://docs.example.com/errors#529',
      '日本語のエラー: モデルは過負荷です 🙂',
    ])
      expect(mask(text, max)).to.equal(text);
  });

  it('masks a known secret at every place, on either side of the last character that is kept', () => {
    for (let at = 0; at <= 320; at += 1) {
      const masked = mask(`${words(at)}${key}${words(40)}`, max);
      expectNothingOf(key, masked, `at ${at}`);
      expect(Array.from(masked).length).to.be.at.most(max);
    }
  });

  it('masks a known secret wherever the text is cut before it is searched', () => {
    for (let at = 8150; at <= 8200; at += 1)
      expectNothingOf(key, mask(`${' '.repeat(at)}${key} and more`, max), `at ${at}`);
    const long = `${key}${'x1'.repeat(5000)}`;
    for (const text of [long, `said: ${long}`, long.slice(0, 9000)])
      expectNothingOf(key, textMask([long])(text, max), `of ${text.length}`);
  });

  it('masks a known secret in each encoding, and the part of one that was cut off', () => {
    const secret = 'pa"ss/w0rd+with spaces?';
    const percent = encodeURIComponent(secret);
    for (const form of [
      secret,
      JSON.stringify(secret),
      percent,
      percent.toLowerCase(),
      percent.replaceAll('%20', '+'),
    ])
      expect(textMask([secret])(`It was ${form}`, max), form).to.match(/^It was "?\*\*\*"?$/);
    for (const prefix of ['', 'a:', 'ab:']) {
      const text = Buffer.from(`${prefix}${secret}`).toString('base64');
      expect(textMask([secret])(`It was ${text}`, max).length, text).to.be.below(20);
    }
    for (let length = 8; length < key.length; length += 1)
      expect(mask(`Incorrect key: ${key.slice(0, length)}, try again`, max)).to.include('key: ***, try');
  });

  it('masks the rest of a known secret that is encoded in another way, or longer than what is searched for', () => {
    const secret = 'w7alrXUtn/K7MDENGbPx/RfiCYEX8MPLE';
    const slash = (form: string) => secret.replaceAll('/', form);
    const twice = encodeURIComponent(encodeURIComponent(secret));
    for (const form of [slash('\\/'), slash('\\u002F'), slash('&#x2F;'), slash('\u200e/'), twice])
      expect(textMask([secret])(`It was "${form}", they say`, max), form).to.equal('It was "***", they say');
    const long = `q1.${'lorem.ipsum-dolor~'.repeat(200)}`;
    expect(textMask([long])(`It was ${long}, they say`, max)).to.equal('It was ***, they say');
  });

  it('masks what looks like a credential', () => {
    for (const [text, masked] of [
      ['Incorrect API key provided: sk-proj-abcdefghijkl.', 'Incorrect API key provided: ***'],
      ['the key sk-gw-0123456789abcdef is revoked', 'the key *** is revoked'],
      ['token gw-adm-ABCDEFGHIJKL_mn', 'token ***'],
      ['gw-pass-ABCDEFGHIJKL_mn', '***'],
      ['AIzaSyA1234567890abcdefghijklmnopqrstuv is blocked', '*** is blocked'],
      ['AKIAIOSFODNN7EXAMPLE may not', '*** may not'],
      ['Authorization: Bearer abcdefghij', 'Authorization: Bearer ***'],
      ['sent "authorization":"Bearer abcdefghij"', 'sent "authorization":"Bearer ***"'],
      ['Basic dXNlcjpwYXNzd29yZA== was refused', 'Basic *** was refused'],
      ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig-nature is no token', '*** is no token'],
      ['{"api_key": "abcdefgh", "model": "m"}', '{"api_key": "***", "model": "m"}'],
      ['{\\"client_secret\\":\\"abcdefgh\\"}', '{\\"client_secret\\":\\"***\\"}'],
      ['password=hunter-two&x', 'password=***&x'],
      ['connect to https://user:pass@host.example/v1', 'connect to https://***@host.example/v1'],
      [
        'GET https://host.example/v1?key=abc&alt=sse failed',
        'GET https://host.example/v1?key=***&alt=*** failed',
      ],
      ['-----BEGIN PRIVATE KEY-----\nMIIE\nvQ==\n-----END PRIVATE KEY----- end', '*** end'],
      ['-----BEGIN RSA PRIVATE KEY-----\nMIIEvQ', '***'],
      [`image ${'iVBORw0KGgo'.repeat(8)}`, 'image ***'],
    ] as const)
      expect(mask(text, max), text).to.equal(masked);
  });

  it('shows nothing of two secrets that overlap or begin alike', () => {
    const [one, other] = ['sk-team-1-AAAAAAAAAAAA', 'sk-team-1-BBBBBBBBBBBB'];
    const masked = textMask([one])(`${other} ${one}${other} ${one.slice(0, 12)}${other}`, max);
    for (const secret of [one, other]) expectNothingOf(secret.slice(10), masked, masked);
  });

  it('leaves one line of whole characters that no screen obeys', () => {
    const text = 'a\u001b[31mb\r\nc\u0000d\u202ee\u2028f\ud83d';
    expect(mask(text, max)).to.equal('a [31mb c de f\ufffd');
    expect(mask('🙂'.repeat(400), max)).to.equal('🙂'.repeat(max));
    expect(mask(`x${'🙂'.repeat(400)}`, max)).to.equal(`x${'🙂'.repeat(max - 1)}`);
  });

  it('ignores texts that are too short for a secret', () => {
    expect(textMask(['', 'is', 'model'])('the model is overloaded', max)).to.equal('the model is overloaded');
  });

  it('leaves the words that a longer secret begins with', () => {
    const text = 'messages.3: production-grade context-length is exceeded';
    for (const value of ['messages-client/1.0', 'context-1m-2025-08-07', 'production-eu-3'])
      expect(textMask([value])(`${text}, with ${value}`, max)).to.equal(`${text}, with ***`);
    const late = 'abcdEfghijklmnop9q';
    expect(textMask([late])(`with ${late.slice(0, 9)}`, max)).to.equal('with ***');
  });

  it('searches a bounded part of a text, in linear steps', () => {
    const secrets = Array.from({ length: 200 }, (_, nth) => `${'a'.repeat(nth)}7${'a'.repeat(5000)}`);
    const hostile = [
      'a'.repeat(1e6),
      'sk-a.'.repeat(1e5),
      '://'.repeat(1e5),
      'eyJ.'.repeat(1e5),
      '?a='.repeat(1e5),
    ];
    for (const text of hostile) expect(textMask(secrets)(text, max).length).to.be.at.most(max);
  }).timeout(20_000);
});

describe('the secrets of a caller', () => {
  it('are its credentials with and without their scheme, and the values of its cookies', () => {
    const headers = {
      authorization: 'Bearer abc',
      'x-api-key': 'def',
      cookie: 'a=1; session=ghi',
      accept: '*/*',
    };
    const secrets = callerSecrets(headers);
    expect(secrets).to.include.members(['abc', 'def', 'ghi', 'Bearer abc']);
    expect(secrets).to.not.include('*/*');
  });
});

/** Fails where eight characters in a row of a secret show. */
function expectNothingOf(secret: string, text: string, note: string): void {
  for (let at = 0; at + 8 <= secret.length; at += 1)
    expect(text, note).to.not.include(secret.slice(at, at + 8));
}
