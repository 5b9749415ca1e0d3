import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { presetNames } from '#plugins/upstreams/chat/presets.js';
import { loadGatewayConfig } from '#src/gateway/load-config.js';
import { configOf } from '../../whole/harness.js';
import { guideOf } from './guide.js';
import { providers } from './providers.js';

describe('config/providers.md', () => {
  it('is what `npm run build:providers` makes of the presets', async () => {
    const written = await readFile('config/providers.md', 'utf8');
    expect(written.trimEnd()).to.equal(guideOf(providers));
  });

  for (const { name, slot } of providers)
    it(`has a slot that can be pasted for ${name}`, async () => {
      const names = [...slot.matchAll(/\$\{(\w+)\}/g)].map(([, variable = '']) => variable);
      const env = Object.fromEntries(names.map((variable) => [variable, 'not-a-key']));
      const text = stringify(configOf({ slots: [parse(slot)] }));
      const { slots } = await loadGatewayConfig({ text, file: 'gateway.yaml', env });
      expect(slots).to.have.length(1);
    });

  it('has a slot with an id of its own for each provider, and every preset', () => {
    const slots = providers.map(({ slot }) => parse(slot) as { id: string; with?: { preset?: string } });
    expect(new Set(slots.map(({ id }) => id)).size).to.equal(slots.length);
    expect(slots.flatMap((each) => each.with?.preset ?? [])).to.have.members(presetNames);
  });
});
