import { expect } from 'chai';
import type { MessagesRequest } from '@gw2api/gateway/plugin';
import { capabilitiesOf } from '#plugins/upstreams/chat/capabilities.js';
import { chatRequest } from '#plugins/upstreams/chat/request/chat-request.js';

describe('what a chat upstream is not told', () => {
  const capabilities = capabilitiesOf({ preset: 'generic', unsupported: 'report' }, 'a');
  const request: MessagesRequest = {
    model: 'm',
    max_tokens: 10,
    system: [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli;' },
      { type: 'text', text: 'Be brief.' },
    ],
    messages: [{ role: 'user', content: 'Hi' }],
  };

  it('includes the attribution block of Claude Code, as a mend', () => {
    const { body, losses } = chatRequest(request, capabilities);
    expect(body.messages[0]).to.deep.equal({ role: 'system', content: 'Be brief.' });
    expect(losses).to.deep.equal([{ path: 'system[0]', kind: 'mend' }]);
    const kept = chatRequest(request, { ...capabilities, keepAttribution: true });
    expect(JSON.stringify(kept.body)).to.include('x-anthropic-billing-header');
    expect(kept.losses).to.deep.equal([]);
  });

  it('includes a long context', () => {
    const headers = { 'anthropic-beta': 'effort-2025-11-24,context-1m-2025-08-07' };
    const { losses } = chatRequest({ ...request, system: 'Be brief.' }, capabilities, { headers });
    expect(losses).to.deep.equal([{ path: 'model', kind: 'setting' }]);
  });
});
