import { expect } from 'chai';
import { formatProblem } from '#src/config/config.js';
import { loadConfig } from '#src/config/load.js';
import { warningsOf } from '#src/config/rules.js';

/** What is said of a config over the catalog that ships, which has `sonnet-5` with the alias `sonnet`. */
function warnings(stage: string, models: string): readonly string[] {
  const text = `pipeline: [{ use: max-tokens, ${stage} }]\nslots:\n  - { id: a, upstream: simulator, models: ${models} }\n`;
  return warningsOf(loadConfig({ text, file: 'gateway.yaml', env: {} })).map(formatProblem);
}

describe('the warnings of a config', () => {
  it('name models of slots and of conditions that are not in the catalog', () => {
    expect(
      warnings('when: { model: [sonnet-5, sonnet] }', '["sonnet-*", "sonet-5", "gpt*", nothing-like-it]'),
    ).to.deep.equal([
      'gateway.yaml:1:39 pipeline[0].when.model[1]: "sonnet" is not in the catalog; did you mean "sonnet-5"?',
      'gateway.yaml:3:5 slots[0].models[1]: "sonet-5" is not in the catalog; did you mean "sonnet-5"?',
      'gateway.yaml:3:5 slots[0].models[2]: "gpt*" matches nothing in the catalog',
      'gateway.yaml:3:5 slots[0].models[3]: "nothing-like-it" is not in the catalog',
    ]);
  });

  it('name the keys of a map of models', () => {
    expect(warnings('with: {}', '{ sonet-5: vendor.sonnet-5, sonnet-5: true }')).to.deep.equal([
      'gateway.yaml:3:5 slots[0].models.sonet-5: "sonet-5" is not in the catalog; did you mean "sonnet-5"?',
    ]);
  });

  it('are none where all is known, or not asked', () => {
    expect(warnings('when: { model: "*" }', '["*", "sonnet-5"]')).to.deep.equal([]);
    expect(warnings('enabled: false, when: { model: x }', 'sonnet-5')).to.deep.equal([]);
  });
});
