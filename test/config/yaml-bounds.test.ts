import { expect } from 'chai';
import { ConfigError } from '#src/config/config.js';
import { loadGatewayConfig } from '#src/gateway/load-config.js';
import { yamlExcess } from '#src/config/yaml-bounds.js';

/** Problems of a config text, and the time that finding them took, in milliseconds of this process. */
async function refused(text: string): Promise<{ readonly message: string; readonly cpuMs: number }> {
  const before = process.cpuUsage();
  const error: unknown = await loadGatewayConfig({ text, file: 'gateway.yaml', env: {} }).catch(
    (reason: unknown) => reason,
  );
  const { user } = process.cpuUsage(before);
  expect(error).to.be.instanceOf(ConfigError);
  return { message: (error as ConfigError).message, cpuMs: user / 1000 };
}

const deep: Readonly<Record<string, string>> = {
  'lists in brackets': `slots: ${'['.repeat(50_000)}${']'.repeat(50_000)}`,
  'open brackets': '['.repeat(100_000),
  'maps in braces': `${'{a: '.repeat(20_000)}1${'}'.repeat(20_000)}`,
  'lists on one line': `${'- '.repeat(20_000)}x`,
  'maps by indent': Array.from({ length: 3000 }, (_, level) => `${' '.repeat(level)}a:`).join('\n'),
};

describe('a config that is too much', () => {
  for (const [what, text] of Object.entries(deep))
    it(`is refused with its place where it is nested deeply: ${what}`, async () => {
      const { message, cpuMs } = await refused(text);
      expect(message).to.match(/^gateway\.yaml:\d+:\d+ is nested more than 200 levels deep here$/);
      expect(cpuMs).to.be.below(2000);
    });

  for (const [what, entry] of Object.entries({
    'of their own': (nth: number) => `{ id: s${nth}, upstream: simulator }`,
    'of one id': () => '{ id: s, upstream: simulator }',
    'without a field': () => '{}',
  }))
    it(`is refused in seconds with 200,000 slots ${what}`, async () => {
      const lines = Array.from({ length: 200_000 }, (_, nth) => `  - ${entry(nth)}`);
      const { message, cpuMs } = await refused(`slots:\n${lines.join('\n')}`);
      expect(message).to.match(/^gateway\.yaml:\d+:\d+ has too many values up to here/);
      expect(cpuMs).to.be.below(5000);
    });

  it('names each of 3,000 slots that have one id, in time that grows with their number', async () => {
    const lines = Array.from({ length: 3000 }, () => '  - { id: s, upstream: simulator }');
    const { message, cpuMs } = await refused(`slots:\n${lines.join('\n')}`);
    expect(message.match(/is already the id of slots\[0\] at line 2/g)).to.have.length(2999);
    expect(cpuMs).to.be.below(8000);
  });

  it('is nothing that holds brackets in texts, or long lines of spaces', () => {
    const text = `a: "${'['.repeat(1000)}"\nb: |\n  ${'[{'.repeat(1000)}\n  ${' '.repeat(1000)}x\n# ${'- '.repeat(1000)}`;
    expect(yamlExcess(text)).to.equal(undefined);
    expect(yamlExcess(`a:\n${'  - [b, { c: d }]\n'.repeat(10_000)}`)).to.equal(undefined);
  });
});
