import { expect } from 'chai';
import { formatContext, type GatewayState } from '@gw2api/gateway/plugin';
import { fakeHost } from '@gw2api/gateway/testing';

describe('what a format is handed', () => {
  it('has the logger of the request, which is made for those who ask', () => {
    let made = 0;
    const state = {
      format: 'chat',
      caller: { kind: 'master', keyId: 'master', name: 'master' },
      get log() {
        made += 1;
        return host.log;
      },
    } satisfies Pick<GatewayState, 'caller' | 'log' | 'format'>;
    const host = fakeHost();
    const context = formatContext(host, { state, headers: {}, path: '/', querystring: '' });
    expect(made).to.equal(0);
    expect([context.log, made]).to.deep.equal([host.log, 1]);
  });
});
