import { expect } from 'chai';
import { GatewayError, namedLimit } from '@gw2api/gateway/plugin';

function refusal(message: string, status = 400): GatewayError {
  return new GatewayError('invalid_request_error', message, {
    status,
    failure: { kind: 'status', status, headers: {} },
  });
}

describe('namedLimit', () => {
  const wanted = 128_000;
  for (const [message, tokens] of [
    ['max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for m', 64_000],
    ['The maximum tokens you requested exceeds the model limit of 4096. Try again with less.', 4096],
    ['Invalid max_tokens value, the valid range of max_tokens is [1, 8192]', 8192],
    ['max_tokens is too large: 128000. This model supports at most 16384 completion tokens', 16_384],
    ['Invalid max_output_tokens: at most 16384', 16_384],
    ['`max_tokens` must be less than or equal to `8192`', 8192],
    ['max_completion_tokens: integer above maximum value, expected a value <= 12288, but got 128000', 12_288],
  ] as const)
    it(`reads ${message}`, () => {
      for (const status of [400, 422])
        expect(namedLimit(refusal(message, status), wanted)).to.deep.equal({ tokens, isOfModel: true });
    });

  it('reads what an input leaves of the context, which says nothing of the model', () => {
    const message = 'input length and `max_tokens` exceed context limit: 188240 + 128000 > 200000, decrease';
    expect(namedLimit(refusal(message), wanted)).to.deep.equal({ tokens: 11_760, isOfModel: false });
    expect(namedLimit(refusal(message.replace('188240', '200001')), wanted)).to.equal(undefined);
  });

  for (const [message, tokens] of [
    [
      "'max_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 17459 input tokens (32000 > 32768 - 17459).",
      15_309,
    ],
    [
      "This model's maximum context length is 32768 tokens. However, you requested 33681 tokens (1681 in the messages, 32000 in the completion).",
      31_087,
    ],
    [
      "This endpoint's maximum context length is 32768 tokens. However, you requested about 40100 tokens (8000 of text input, 100 of tool input, 32000 in the output).",
      24_668,
    ],
    [
      'maximum context length is 9 tokens. However, you requested 40 tokens (20 in the messages, 20 in the completion)',
      undefined,
    ],
  ] as const)
    it(`reads what is left of the context: ${message.slice(0, 70)}`, () =>
      expect(namedLimit(refusal(message), wanted)).to.deep.equal(tokens && { tokens, isOfModel: false }));

  for (const [what, error] of [
    ['another status', refusal('max_tokens: 128000 > 64000', 500)],
    ['an error of ours', new GatewayError('invalid_request', 'max_tokens: 128000 > 64000')],
    ['another error', new Error('max_tokens: 128000 > 64000')],
    ['a limit that is not lower', refusal('max_tokens: 128000 > 128000')],
    ['a limit of 0', refusal('max_tokens: 128000 > 0')],
    ['another field', refusal('budget_tokens: at most 1000')],
    ['no number', refusal('max_tokens is too large')],
    ['a number beyond all', refusal('max_tokens: 128000 > 99999999999999')],
    ['what stands after the first kilobyte', refusal(`${' '.repeat(1000)}max_tokens: 128000 > 64000`)],
  ] as const)
    it(`names none for ${what}`, () => {
      expect(namedLimit(error, wanted)).to.equal(undefined);
    });

  it('looks at a long message for no longer than at a short one', () => {
    const message = 'max_tokens: '.repeat(5_000_000);
    expect(namedLimit(refusal(message), wanted)).to.equal(undefined);
  });
});
