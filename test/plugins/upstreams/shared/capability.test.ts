import { expect } from 'chai';
import { capabilityIn } from '#plugins/upstreams/shared/messages/capability.js';

describe('the token of a refusal', () => {
  for (const [message, token] of [
    ['Input is too long for requested model.', 'prompt_too_long'],
    ['prompt is too long: 201234 tokens > 200000 maximum', 'prompt_too_long'],
    ['The request exceeds the model’s context window of 200000 tokens.', 'prompt_too_long'],
    ['input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000', undefined],
    ['messages.0.content.1.image.source.base64: image exceeds 5 MB maximum', 'image_block'],
    ['Could not process image', 'image_block'],
    ['This model does not support image content.', 'image_block'],
    ['The PDF specified was not valid.', 'document_block'],
    ['Too much media: 0 document pages + 101 images > 100', 'media_budget'],
    [
      'Unexpected value(s) `thinking-token-count-2026-05-13` for the `anthropic-beta` header.',
      'beta_header:thinking-token-count-2026-05-13',
    ],
    ['invalid beta flag', undefined],
    ['temperature: must be at most 1', undefined],
    ['The provided request is not valid', undefined],
  ] as const)
    it(`is ${token ?? 'missing'} for ${JSON.stringify(message)}`, () => {
      expect(capabilityIn({ status: 400, message })).to.equal(token);
    });

  it('is missing where the request is not at fault', () => {
    for (const status of [401, 403, 404, 429, 500, 529])
      expect(capabilityIn({ status, message: 'Input is too long.' })).to.equal(undefined);
  });
});
