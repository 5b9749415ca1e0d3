import { expect } from 'chai';
import { Type } from '@gw2api/gateway/plugin';
import { defineUpstream, type UpstreamHost } from '@gw2api/gateway/plugin/upstream';
import { upstreamChecks, upstreamHost, type UpstreamSubject } from '@gw2api/gateway/testing';

describe('the conformance suite of upstreams', () => {
  const opened: unknown[] = [];
  beforeEach(() => opened.splice(0));

  const inner = defineUpstream({
    name: 'inner',
    options: Type.Object({ path: Type.String({ default: '/v1' }), words: Type.Integer({ default: 3 }) }),
    open(options) {
      opened.push(options);
      return { generate: () => Promise.reject(new Error('Nothing was asked.')) };
    },
  });

  async function open(options?: object): Promise<unknown> {
    const subject: UpstreamSubject = { kind: inner, play: async () => ({}), ...(options && { options }) };
    const [first] = upstreamChecks(subject);
    return await first!.run().catch((error: unknown) => error);
  }

  it('fills in the defaults of the options, as the gateway does', async () => {
    await open();
    await open({ words: 5 });
    expect(opened).to.deep.equal([
      { path: '/v1', words: 3 },
      { path: '/v1', words: 5 },
    ]);
  });

  it('names options that the schema refuses', async () => {
    expect(String(await open({ words: 'many' }))).to.match(/options are refused: words /);
    expect(opened).to.deep.equal([]);
  });

  it('fills them in for an upstream that opens another one', async () => {
    const host: UpstreamHost = upstreamHost({}, [inner]);
    await host.upstreams.open('inner', { with: { path: '/v2' } });
    expect(opened).to.deep.equal([{ path: '/v2', words: 3 }]);
    await host.http.close();
  });
});
