import { expect } from 'chai';
import { catalogModel } from '@gw2api/gateway/testing';
import { KnownModels } from '#src/engine/models/known-models.js';
import { CatalogModels } from '#src/engine/models/models.js';

describe('the profile of a model', () => {
  it('is the catalog’s, else what upstreams list, by any form of its name', () => {
    const known = new KnownModels();
    const models = new CatalogModels([catalogModel({ id: 'sonnet-5', maxTokens: 1000 })], known);
    known.takeLists([[{ id: 'claude-opus-9-20260101', maxTokens: 64_000, thinking: 'budget' }]]);
    expect(models.profile('claude-sonnet-5')).to.include({ maxTokens: 1000, thinking: 'adaptive' });
    for (const name of ['claude-opus-9-20260101', 'claude-opus-9', 'claude-opus-9-latest', 'opus-9'])
      expect(models.profile(name)).to.deep.equal({ maxTokens: 64_000, thinking: 'budget' });
    for (const name of ['claude-opus-9-1', 'claude-opus', '']) expect(models.profile(name)).to.deep.equal({});
  });

  it('is that of the newest where several are listed, and the exact one’s where that is', () => {
    const known = new KnownModels();
    known.takeLists([
      [
        { id: 'claude-opus-9-20260601', maxTokens: 2 },
        { id: 'claude-opus-9-20260101', maxTokens: 1 },
      ],
    ]);
    expect(known.profile('claude-opus-9')).to.deep.equal({ maxTokens: 2 });
    expect(known.profile('claude-opus-9-20260101')).to.deep.equal({ maxTokens: 1 });
  });

  it('holds in each of several upstreams', () => {
    const known = new KnownModels();
    known.takeLists([
      [{ id: 'm', maxTokens: 2, efforts: ['low', 'high'], thinking: 'adaptive' }],
      [{ id: 'm', maxTokens: 1, efforts: ['low'], contextWindow: 10 }],
    ]);
    expect(known.profile('m')).to.deep.equal({
      maxTokens: 1,
      efforts: ['low'],
      contextWindow: 10,
      thinking: 'adaptive',
    });
  });

  it('is corrected by what a refusal has taught, by the name that went up', () => {
    const known = new KnownModels();
    const models = new CatalogModels([catalogModel({ id: 'small', upstreamModel: 'up' })], known);
    models.learn('small', { maxTokens: 500 });
    models.learn('small', { thinking: 'none' });
    models.learn('small', { maxTokens: 900 });
    expect(models.profile('small')).to.deep.include({ maxTokens: 500, thinking: 'none' });
    expect(new CatalogModels([], known).profile('up')).to.deep.equal({ maxTokens: 500, thinking: 'none' });
  });

  it('is kept of a bounded number of models, with names of a bounded length', () => {
    const known = new KnownModels();
    for (let at = 0; at < 3000; at += 1) known.learn(`m${at}`, { maxTokens: 1 });
    known.learn('x'.repeat(100_000), { maxTokens: 1 });
    expect(known.fill).to.deep.equal({ entries: 1000, capacity: 1000 });
  });
});
