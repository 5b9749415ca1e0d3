import { expect } from 'chai';
import { takesTtl } from '#plugins/upstreams/bedrock/index.js';

describe('a model of Bedrock', () => {
  for (const model of [
    'anthropic.claude-v2:1',
    'anthropic.claude-instant-v1',
    'us.anthropic.claude-3-5-haiku-20241022-v1:0',
    'anthropic.claude-3-haiku-20240307-v1:0',
    'us.anthropic.claude-sonnet-4-20250514-v1:0',
    'eu.anthropic.claude-opus-4-1-20250805-v1:0',
  ])
    it(`takes no ttl: ${model}`, () => expect(takesTtl(model)).to.equal(false));

  for (const model of [
    'global.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'anthropic.claude-haiku-4-5-20251001-v1:0',
    'us.anthropic.claude-opus-4-6-v1',
    'us.anthropic.claude-sonnet-5-v1:0',
    'claude-sonnet-5',
    'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc',
  ])
    it(`takes a ttl: ${model}`, () => expect(takesTtl(model)).to.equal(true));
});
