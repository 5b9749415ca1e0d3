import { expect } from 'chai';
import { ConfigError } from '#src/config/config.js';
import { check } from '#src/cli/check.js';
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
});
