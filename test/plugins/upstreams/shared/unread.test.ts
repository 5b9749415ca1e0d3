import { expect } from 'chai';
import type { MessagesRequest } from '@gw2api/gateway/plugin';
import { capabilitiesOf } from '#plugins/upstreams/chat/capabilities.js';
import { countedPart } from '../../formats/counted-fields.js';
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

  it('is looked at until a report has room for no more, however many unknown fields there are', () => {
    const unread = [
      countedPart({ role: 'user' as const, content: 'Hi' }, 20_000),
      countedPart({ name: 'f', input_schema: { type: 'object' } }, 20_000),
      countedPart({ name: 'g', input_schema: { type: 'object' } }, 20_000),
    ];
    const [message, ...tools] = unread.map(({ part }) => part);
    const image = { type: 'image', source: { type: 'file', file_id: 'x' } };
    const given = { model: 'm', messages: [message, { role: 'user', content: [image] }], tools };
    const { losses } = chatRequest(given as unknown as MessagesRequest, capabilities); // callers send any fields
    expect(losses.filter(({ kind }) => kind === 'setting')).to.have.length(1000);
    expect(losses).to.deep.include({ path: 'messages[1].content[0]', kind: 'content' });
    expect(unread.reduce((sum, { looks }) => sum + looks(), 0)).to.be.below(2500);
  });

  it('includes a long context', () => {
    const headers = { 'anthropic-beta': 'effort-2025-11-24,context-1m-2025-08-07' };
    const { losses } = chatRequest({ ...request, system: 'Be brief.' }, capabilities, { headers });
    expect(losses).to.deep.equal([{ path: 'model', kind: 'setting' }]);
  });
});
