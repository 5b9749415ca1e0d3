import { expect } from 'chai';
import type { MessagesRequest } from '#src/plugin/index.js';
import { messagesRequest } from '#plugins/upstreams/messages/messages-request.js';
import { slotCall } from '../../../engine/slots/kit.js';

const options = { cacheTtl: true, strictTools: true, structuredOutput: true };
const scope = 'prompt-caching-scope-2026-01-05';
const request: MessagesRequest = {
  model: 'm',
  system: [{ type: 'text', text: 'S', cache_control: { type: 'ephemeral', scope: 'global' } as never }],
  messages: [{ role: 'user', content: 'Hi.' }],
};

describe('the scope of cache markers', () => {
  const sent = (betas: string | undefined, cacheScope: boolean) =>
    messagesRequest(slotCall({ request, headers: betas === undefined ? {} : { 'anthropic-beta': betas } }), {
      ...options,
      cacheScope,
    });

  it('goes up as it came where the service takes it', () => {
    const call = sent(`effort-2025-11-24,${scope}`, true);
    expect(call.request).to.equal(request);
    expect([call.headers, call.losses]).to.deep.equal([
      { 'anthropic-beta': `effort-2025-11-24,${scope}` },
      [],
    ]);
  });

  it('is left out with its flag where the service takes none, both reported', () => {
    const { request: left, headers, losses } = sent(`effort-2025-11-24, ${scope}`, false);
    expect(left.system).to.deep.equal([{ type: 'text', text: 'S', cache_control: { type: 'ephemeral' } }]);
    expect(headers).to.deep.equal({ 'anthropic-beta': 'effort-2025-11-24' });
    expect(losses).to.deep.equal([
      { path: `anthropic-beta: ${scope}`, kind: 'mend' },
      { path: 'system[0].cache_control.scope', kind: 'mend' },
    ]);
    expect(sent(scope, false).headers).to.deep.equal({});
  });
});
