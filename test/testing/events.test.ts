import { expect } from 'chai';
import { foldMessage, type ContentBlock } from '@gw2api/gateway/plugin';
import { collectEvents, eventsOf, messageEvents, recordedEvents } from '@gw2api/gateway/testing';

describe('messageEvents', () => {
  it('spells the message that it is asked for', async () => {
    const content: readonly ContentBlock[] = [
      { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
      { type: 'text', text: 'Look.' },
      { type: 'tool_use', id: 't1', name: 'look', input: { at: [1] } },
      { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
    ];
    const message = await foldMessage(eventsOf(messageEvents({ content, stopReason: 'tool_use' })));
    expect(message.content).to.deep.equal(content);
    expect(message.stop_reason).to.equal('tool_use');
    expect(message.usage).to.deep.equal({ input_tokens: 10, output_tokens: 5 });
  });
});

describe('eventsOf', () => {
  it('gives one batch for each argument and throws an error in its place', async () => {
    const [first, ...others] = messageEvents();
    const sizes: number[] = [];
    const broken = new Error('broken');
    try {
      for await (const batch of eventsOf(first!, others, broken)) sizes.push(batch.length);
    } catch (error) {
      expect(error).to.equal(broken);
    }
    expect(sizes).to.deep.equal([1, others.length]);
  });
});

describe('recordedEvents', () => {
  it('keeps the text of an event to the byte', async () => {
    const sse =
      'event: ping\ndata: {"type": "ping"   }\n\n: comment\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n';
    const texts: string[] = [];
    for await (const batch of recordedEvents(sse)) texts.push(...batch.map(({ data }) => data));
    expect(texts).to.deep.equal(['{"type": "ping"   }', '{"type":"message_stop"}']);
    expect(await collectEvents(recordedEvents(sse))).to.deep.equal([
      { type: 'ping' },
      { type: 'message_stop' },
    ]);
  });
});
