import { expect } from 'chai';
import { mayUseModel } from '@gw2api/gateway/plugin';
import { catalogModel } from '@gw2api/gateway/testing';
import { CatalogModels } from '#src/engine/models/models.js';

describe('the names of a catalog', () => {
  const models = new CatalogModels([
    catalogModel({ id: 'small', upstreamModel: 'vendor-small-1' }),
    catalogModel({ id: 'cheap', upstreamModel: 'vendor-small-1' }),
    catalogModel({ id: 'large', upstreamModel: 'small-plus', aliases: ['best'] }),
    catalogModel({ id: 'trap', upstreamModel: 'large' }),
  ]);

  it('find a model by its id, an alias and its upstream name', () => {
    for (const name of ['large', 'best', 'small-plus']) {
      expect(models.find(name)?.id, name).to.equal('large');
      expect(models.idOf(name), name).to.equal('large');
    }
  });

  it('mean the first of two models with one upstream name, and a model by its id before another’s upstream name', () => {
    expect(models.idOf('vendor-small-1')).to.equal('small');
    expect(models.idOf('large')).to.equal('large');
  });

  it('let a key use a model by either of its names, but none whose upstream name is another’s', () => {
    const may = (listed: string, name: string) => mayUseModel({ models: [listed] }, name, models);
    expect(may('vendor-small-1', 'small')).to.equal(true);
    expect(may('small', 'vendor-small-1')).to.equal(true);
    expect(may('vendor-small-1', 'cheap')).to.equal(false);
    expect(may('large', 'trap')).to.equal(false);
    expect(may('small*', 'cheap')).to.equal(false);
  });
});
