import { expect } from 'chai';
import { knownModels } from '#plugins/upstreams/bedrock/known-models.js';

describe('the models that are known of Bedrock', () => {
  const named = (region: string | undefined, name: string) =>
    knownModels(region).flatMap(({ id, aliases }) => (aliases?.includes(name) ? [id] : []));

  it('are those of the region’s geography, by the vendor’s names', () => {
    expect(named('us-east-1', 'claude-sonnet-5')).to.deep.equal(['us.anthropic.claude-sonnet-5']);
    expect(named('eu-west-3', 'claude-opus-4-6')).to.deep.equal(['eu.anthropic.claude-opus-4-6-v1']);
    expect(named('ap-northeast-1', 'claude-sonnet-4-5-20250929')).to.deep.equal([
      'jp.anthropic.claude-sonnet-4-5-20250929-v1:0',
    ]);
  });

  it('are never global for a name without a region', () => {
    for (const region of ['eu-west-1', 'sa-east-1', 'us-gov-west-1', undefined]) {
      expect(named(region, 'claude-fable-5'), region).to.deep.equal([]);
      expect(knownModels(region).map(({ id }) => id)).to.include('global.anthropic.claude-fable-5');
    }
  });
});
