import { expect } from 'chai';
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

  async function withRed(): Promise<string> {
    const folder = await folders.make({
      'gateway.yaml': {
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
      },
    });
    return `${folder}/gateway.yaml`;
  }
});
