import { expect } from 'chai';
import { ConfigError } from '@gw2api/gateway';
import { loadGatewayConfig } from '#src/gateway/load-config.js';

describe('loadGatewayConfig', () => {
  async function problems(text: string): Promise<readonly string[]> {
    const load = loadGatewayConfig({ text, file: 'gateway.yaml', env: {} });
    const error: unknown = await load.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ConfigError);
    return (error as Error).message.split('\n');
  }

  it('tells what is wrong with one stage and with the options and the order of the others at once', async () => {
    const text = `pipeline:
  - { use: auth }
  - { use: body-limit, wiht: { limit: 1mb } }
  - { use: format-decode }
  - { use: usage-mask }
  - { use: slot-pick, with: { queueTimeout: soon } }
  - { use: upstream-call, with: { attempts: "3" } }
  - { use: format-encode }
slots: [{ id: a, upstream: simulator }]
listn: {}
`;
    expect(await problems(text)).to.deep.equal([
      'gateway.yaml:3:24 pipeline[1].wiht: is not a known key; did you mean "with"?',
      'gateway.yaml:5:5 pipeline[3] "usage-mask" needs "reply", which "upstream-call" provides only at line 7; move it below',
      'gateway.yaml:6:31 pipeline[4].with.queueTimeout: must be a duration such as "500ms", "30s" or "1h", not "soon"',
      'gateway.yaml:7:35 pipeline[5].with.attempts: must be a whole number, not a string; write it without quotes',
      'gateway.yaml:10:1 listn: is not a known key; did you mean "listen"?',
    ]);
  });
});
