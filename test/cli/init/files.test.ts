import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parse } from 'yaml';
import { catalogEntries, configFrom, newTests, slotTest } from '#src/cli/init/files.js';
import type { FilledSlot } from '#src/cli/init/filled-slot.js';
import { simulator } from '#src/cli/init/providers.js';
import { packageFile } from '#src/kit/package-files.js';

const slot: FilledSlot = {
  id: 'a',
  text: 'id: a\nupstream: simulator\nheaders: { x-cost: $1 $& }\n',
  variables: [],
  models: [],
  missing: [],
};

describe('the files of gw2api init', () => {
  let shipped: string;
  before(async () => {
    shipped = await readFile(packageFile('config/gateway.yaml'), 'utf8');
  });

  it('are the shipped config with the slot and the port', () => {
    const text = configFrom(shipped, slot, 9000);
    expect(text).to.match(/^# gw2api\. Check a change with `gw2api check`\./);
    const { listen, slots } = parse(text) as { listen: { port: number }; slots: unknown }; // looked at below
    expect(listen.port).to.equal(9000);
    expect(slots).to.deep.equal([parse(slot.text)]);
  });

  for (const [part, renamed] of [
    ['# yaml-language-server:', '# language-server:'],
    ['every key there is stands in gateway.reference.yaml', 'all keys are in gateway.reference.yaml'],
    ['  port: 8787', '  port: ${PORT}'],
    ['# One upstream account per slot.', '# A slot has one upstream account.'],
  ] as const)
    it(`are refused if the shipped config has no "${part}"`, () => {
      expect(shipped).to.include(part);
      expect(() =>
        configFrom(
          shipped.replace(part, () => renamed),
          slot,
          9000,
        ),
      ).to.throw('The shipped config has no text like');
    });

  for (const name of ['true', 'False', 'NULL', 'null'])
    it(`have the name ${name} as a text`, async () => {
      const [entry] = await catalogEntries(simulator, { ...slot, models: [name] });
      expect(parse(entry!.text)).to.deep.equal({ id: name });
      const { tests } = parse(newTests({ ...slot, id: name }, name)) as { tests: readonly Test[] }; // as written above
      expect(tests[0]!.requests[0]!.body.model).to.equal(name);
      const { keys } = parse(slotTest(name, name)) as { keys: unknown }; // looked at below
      expect(keys).to.deep.equal({ mine: { slots: [name] } });
    });

  it('have plain names without quotes', async () => {
    const [entry] = await catalogEntries(simulator, { ...slot, models: ['org/nullable-1.5'] });
    expect(entry!.text).to.equal('id: org/nullable-1.5\n');
  });
});

interface Test {
  readonly requests: readonly { readonly body: { readonly model: unknown } }[];
}
