import { expect } from 'chai';
import { stringify } from 'yaml';
import { ConfigError } from '#src/config/config.js';
import { check } from '#src/cli/check.js';
import { stages } from '../whole/harness.js';
import { TempFolders } from '../whole/temp-folders.js';

const config = `pipeline: [{ use: auth }, { use: body-limit }, { use: format-decode }]
slots: [{ id: a, upstream: simulator }]
store: memory
tests:
  - name: one
    requests: [{ post: /v1/messages, expct: { status: 200 } }]
  - name: one
    slots: { a: [text] }
    requests: [{ get: /health }]
`;

describe('gw2api check', () => {
  const folders = new TempFolders();
  after(() => folders.remove());

  it('reads the tests in the config, and tells their problems with all others', async () => {
    const folder = await folders.make({ 'gateway.yaml': config });
    const refused: unknown = await check(`${folder}/gateway.yaml`, {}, false).catch(
      (error: unknown) => error,
    );
    expect(refused).to.be.instanceOf(ConfigError);
    const lines = (refused as ConfigError).message.split('\n');
    expect(lines.map((line) => line.replace(folder, ''))).to.deep.equal([
      '/gateway.yaml:1:48 pipeline: must provide "response" for generate and count-tokens, which no stage provides; add "- use: format-encode" as the last stage',
      '/gateway.yaml:6:38 tests[0].requests[0].expct: is not a known key; did you mean "expect"?',
      '/gateway.yaml:7:5 tests[1].name: is also the name of the test at line 5; give it another',
      '/gateway.yaml:8:14 tests[1].slots.a: must be an object, not an array; write `{ scenario: [ … ] }`',
    ]);
  });

  it('accepts the reference config', async () => {
    const { text, exitCode } = await check('config/gateway.reference.yaml', {}, false);
    expect(text).to.contain('today-in-chat');
    expect(exitCode).to.equal(0);
  });

  it('refuses tests in the config that name unknown pipelines, but none that bring an environment', async () => {
    const tests = `tests:
  - { name: one, keys: { a: { pipeline: rde } }, requests: [{ get: /health }] }
  - { name: two, requests: [{ get: /health, expect: { pipeline: blue } }] }
  - { name: three, skip: later, requests: [{ get: /health, expect: { pipeline: blue } }] }
  - { name: four, env: { NAME: blue }, requests: [{ get: /health, expect: { pipeline: blue } }] }
  - { name: five, requests: [{ get: /health, expect: { pipeline: default } }] }
`;
    const file = await withRed(tests);
    const refused: unknown = await check(file, {}, false).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(ConfigError);
    const lines = (refused as ConfigError).message.split('\n');
    expect(lines.map((line) => line.replace(/^.*yaml:\d+/, ''))).to.deep.equal([
      ':31 tests[0].keys.a.pipeline: "rde" is not a pipeline of the config; did you mean "red"?',
      ':55 tests[1].requests[0].expect.pipeline: "blue" is not a pipeline of the config; known: default, red',
    ]);
  });

  it('prints the changes of named pipelines, and one of them whole', async () => {
    const file = await withRed();
    const { text, exitCode } = await check(file, {}, false);
    expect(exitCode).to.equal(0);
    expect(text).to.match(
      /pipeline red, which extends default when team is red\n {2}~ red\/max-tokens .*\n {2}- cache-ttl /,
    );
    const { text: whole } = await check(file, {}, false, { pipeline: 'red' });
    expect(whole.split('\n').map((line) => line.slice(0, 18).trimEnd())).to.include.members([
      '    auth',
      '  ~ red/max-tokens',
      '  - cache-ttl',
    ]);
    expect(whole).not.to.include('slots');
  });

  it('names the pipelines that there are for an unknown one', async () => {
    const refused: unknown = await check(await withRed(), {}, false, { pipeline: 'rde' }).catch(
      (error: unknown) => error,
    );
    expect((refused as Error).message).to.equal('There is no pipeline "rde"; known: red.');
  });

  async function withRed(tests = ''): Promise<string> {
    const settings = {
      pipeline: stages(),
      pipelines: [
        {
          name: 'red',
          when: { team: 'red' },
          changes: [{ set: 'max-tokens', with: { cap: 10 } }, { remove: 'cache-ttl' }],
        },
      ],
      slots: [{ id: 'a', upstream: 'simulator' }],
      store: 'memory',
    };
    const folder = await folders.make({ 'gateway.yaml': stringify(settings) + tests });
    return `${folder}/gateway.yaml`;
  }
});
