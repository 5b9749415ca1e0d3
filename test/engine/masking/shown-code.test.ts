import { expect } from 'chai';
import { shownCode } from '#src/engine/masking/shown-code.js';
import { textMask } from '#src/engine/masking/text-mask.js';

describe('a shown error code', () => {
  const shown = (code: unknown) =>
    shownCode(code, () => textMask(['k7Qm2xV9pLw4Rt8Zb1Nc', 'correct_horse_staple']));

  it('is the code where that is an identifier', () => {
    for (const code of [
      'overloaded_error',
      'insufficient_quota',
      'ThrottlingException',
      'com.amazon.coral.service#UnrecognizedClientException',
      'RESOURCE_EXHAUSTED',
      '1302',
      'rate-limit.exceeded',
    ])
      expect(shown(code)).to.equal(code);
  });

  it('is no text, no credential and nothing long', () => {
    for (const code of [
      'Your prompt "my secret diary" is refused',
      'k7Qm2xV9pLw4Rt8Zb1Nc',
      'key=k7Qm2xV9pLw4Rt8Zb1Nc',
      'correct_horse_staple',
      'no_correct_horse_staple',
      'invalid:k7Qm2xV9pLw4Rt8Zb1Nc',
      'sk-ant-api03-AnotherOne123456',
      'x'.repeat(65),
      'überlastet',
      'two\nlines',
      '',
      5,
      undefined,
    ])
      expect(shown(code), String(code)).to.equal('other');
  });
});
