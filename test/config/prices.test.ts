import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { ConfigError, formatProblem, type Config } from '#src/config/config.js';
import { loadConfig } from '#src/config/load.js';
import { warningsOf } from '#src/config/rules.js';

/** A config with one slot, whose entry goes on with `more`. */
function withSlot(more: string): Config {
  const text = `pipeline: [{ use: max-tokens }]\nslots:\n  - { id: a, upstream: simulator, ${more} }\n`;
  return loadConfig({ text, file: 'gateway.yaml', env: {} });
}

function refusal(load: () => Config): string {
  try {
    load();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'none';
}

describe('the prices of a config', () => {
  it('are of a slot: one for all models, or by model, with a discount', () => {
    const { prices, discount } = withSlot('price: { input: 3, output: 15, cacheRead: 0.3 }, discount: 0.2')
      .slots[0]!;
    expect(prices).to.deep.equal({ '*': { input: 3, output: 15, cacheRead: 0.3 } });
    expect(discount).to.equal(0.2);
    const byModel = "price: { sonnet-5: { input: 3, output: 15 }, '*': { input: 0, output: 0 } }";
    expect(withSlot(byModel).slots[0]!.prices).to.deep.equal({
      'sonnet-5': { input: 3, output: 15 },
      '*': { input: 0, output: 0 },
    });
    expect(withSlot('weight: 1').slots[0]).to.not.have.any.keys('prices', 'discount');
  });

  it('are refused at their place where they are wrong', () => {
    const place = 'gateway.yaml:3';
    for (const [more, ...problems] of [
      ['price: { input: 3 }', '35 slots[0].price.output: is required'],
      ['price: { output: 3 }', '35 slots[0].price.input: is required'],
      ['price: { input: -1, output: 1 }', '44 slots[0].price.input: must be at least 0'],
      ['price: { input: 1, output: 0.0000001 }', '54 slots[0].price.output: must have at most six decimals'],
      ['price: { sonnet-5: { input: 1 } }', '44 slots[0].price.sonnet-5.output: is required'],
      [
        'price: { "sonnet-*": { input: 1, output: 1 } }',
        '44 slots[0].price.sonnet-*: must be the id of one model, or * for all others',
      ],
      [
        'price: { input: 1, output: 1, cachRead: 1 }',
        '65 slots[0].price.cachRead: is not a known key; did you mean "cacheRead"?',
      ],
      ['discount: 20', '35 slots[0].discount: must be at most 1'],
    ] as const)
      expect(refusal(() => withSlot(more))).to.equal(
        problems.map((problem) => `${place}:${problem}`).join('\n'),
      );
  });

  it('are warned of where their model is not in the catalog', () => {
    const config = withSlot('price: { sonnet: { input: 1, output: 1 } }');
    expect(warningsOf(config).map(formatProblem)).to.deep.equal([
      'gateway.yaml:3:35 slots[0].price.sonnet: "sonnet" is not in the catalog; did you mean "sonnet-5"?',
    ]);
  });

  it('are of the catalog, and refused at their place there', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'gw2api-prices-'));
    const text = 'pipeline: [{ use: max-tokens }]\nmodels: m.yaml\nslots: [{ id: a, upstream: simulator }]\n';
    const load = () => loadConfig({ text, file: 'gateway.yaml', baseDir: folder, env: {} });
    await writeFile(
      path.join(folder, 'm.yaml'),
      'models:\n  - id: a\n    price: { input: 1.5, output: 2 }\n',
    );
    expect(load().models[0]?.price).to.deep.equal({ input: 1.5, output: 2 });
    await writeFile(
      path.join(folder, 'm.yaml'),
      'models:\n  - id: a\n    price: { input: 1.0000005, output: 2 }\n',
    );
    expect(refusal(load)).to.equal('m.yaml:3:14 models[0].price.input: must have at most six decimals');
    await writeFile(path.join(folder, 'm.yaml'), 'models:\n  - id: a\n    price: 3\n');
    expect(refusal(load)).to.match(/^m\.yaml:3:5 models\[0\]\.price: must be /);
    await rm(folder, { recursive: true });
  });

  it('are not shipped: the built-in models have none', () => {
    const { models } = withSlot('weight: 1');
    expect(models.length).to.be.greaterThan(0);
    expect(models.filter(({ price }) => price)).to.deep.equal([]);
  });
});
