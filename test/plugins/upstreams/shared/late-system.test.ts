import { expect } from 'chai';
import type { Message } from '@gw2api/gateway/plugin';
import { withoutLateSystem } from '#plugins/upstreams/shared/late-system.js';

const text = (text: string) => ({ type: 'text', text }) as const;
const use = { type: 'tool_use', id: 'c', name: 'look', input: {} } as const;
const answer = { type: 'tool_result', tool_use_id: 'c', content: 'one' } as const;

const messages: readonly Message[] = [
  { role: 'user', content: 'Hi' },
  { role: 'system', content: [{ ...text('Mode: plan.'), cache_control: { type: 'ephemeral' } }] },
  { role: 'user', content: [text('Look.')] },
  { role: 'assistant', content: [use] },
  { role: 'user', content: [answer] },
  { role: 'system', content: '10 tokens left' },
  { role: 'assistant', content: 'One.' },
  { role: 'system', content: '9 tokens left' },
];

describe('late system text on its way to a Messages upstream', () => {
  it('is marked in the user turns, for callers of other formats', () => {
    const { messages: sent } = withoutLateSystem({ messages }, { isTranslated: true });
    expect(sent).to.deep.equal([
      {
        role: 'user',
        content: [
          text('Hi'),
          { ...text('[System] Mode: plan.'), cache_control: { type: 'ephemeral' } },
          text('Look.'),
        ],
      },
      messages[3],
      { role: 'user', content: [answer, text('[System] 10 tokens left')] },
      { role: 'assistant', content: [text('One.')] },
      { role: 'user', content: [text('[System] 9 tokens left')] },
    ]);
  });

  it('stays as it came for callers of Messages', () => {
    const request = { model: 'm', messages };
    expect(withoutLateSystem(request, {})).to.equal(request);
    const early = { messages: messages.slice(0, 1) };
    expect(withoutLateSystem(early, { isTranslated: true })).to.equal(early);
  });
});
