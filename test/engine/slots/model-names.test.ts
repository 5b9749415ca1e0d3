import { expect } from 'chai';
import { ModelNames } from '#src/engine/slots/model-names.js';

const model = (id: string) => ({ id, upstreamModel: `catalog-${id}` });

describe('the names of models at a slot', () => {
  it('are those of the catalog without a map', () => {
    expect(new ModelNames({ models: ['*'] }).of(model('sonnet-5'))).to.equal('catalog-sonnet-5');
  });

  it('are those of its map, an id before the globs, and the first glob that matches', () => {
    const names = new ModelNames({
      models: ['sonnet-*', '*', 'sonnet-5', 'haiku-5'],
      upstreamModels: { 'sonnet-*': 'any-sonnet', '*': 'any', 'sonnet-5': 'the-sonnet' },
    });
    expect(names.of(model('sonnet-5'))).to.equal('the-sonnet');
    expect(names.of(model('sonnet-4'))).to.equal('any-sonnet');
    expect(names.of(model('opus-5'))).to.equal('any');
    expect(names.of(model('haiku-5'))).to.equal('catalog-haiku-5');
  });
});
