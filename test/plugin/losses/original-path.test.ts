import { expect } from 'chai';
import type { MessagesRequest } from '@gw2api/gateway/plugin';
import { originalPath } from '#src/plugin/losses/original-path.js';

describe('originalPath', () => {
  const [text, image] = [
    { type: 'text', text: 'a' } as const,
    { type: 'image', source: { type: 'url', url: 'u' } } as const,
  ];
  const first = { role: 'user', content: [text, image] } as const;
  const second = { role: 'assistant', content: 'yes' } as const;
  const tool = { name: 'look' };
  const decoded: MessagesRequest = { model: 'm', system: 'S', messages: [first, second], tools: [tool] };

  it('keeps every path of a request that no stage has changed', () => {
    for (const path of ['stop_sequences', 'messages[0].content[1].source', 'tools[0].strict'])
      expect(originalPath(path, decoded, decoded)).to.equal(path);
  });

  it('is not shifted by a message, a block or a tool that a stage has inserted', () => {
    const inserted = { role: 'user', content: 'inserted' } as const;
    const sent: MessagesRequest = {
      ...decoded,
      messages: [inserted, { ...first, content: [{ type: 'text', text: 'x' }, text, image] }, second],
      tools: [{ name: 'added' }, tool],
    };
    expect(originalPath('messages[2]', sent, decoded)).to.equal('messages[1]');
    expect(originalPath('tools[1].input_schema', sent, decoded)).to.equal('tools[0].input_schema');
    expect(originalPath('tools[0]', sent, decoded)).to.equal(undefined);
  });

  it('finds a message and a block that a stage has changed between two that it has not', () => {
    const changed = { ...first, content: [{ type: 'text', text: 'b' } as const, image] };
    const sent: MessagesRequest = { ...decoded, messages: [changed, second] };
    expect(originalPath('messages[0].content[0]', sent, decoded)).to.equal('messages[0].content[0]');
    expect(originalPath('messages[0].content[1]', sent, decoded)).to.equal('messages[0].content[1]');
  });

  it('takes an inserted block of the system text for one in front of the caller’s', () => {
    const before: MessagesRequest = { ...decoded, system: [text] };
    const sent: MessagesRequest = { ...decoded, system: [{ ...text, text: 'persona' }, { ...text }] };
    expect(originalPath('system[1].cache_control.ttl', sent, before)).to.equal('system[0].cache_control.ttl');
    expect(originalPath('system[0]', sent, before)).to.equal(undefined);
  });

  it('has no index in a content that came as one string', () => {
    const sent: MessagesRequest = { ...decoded, messages: [first, { ...second, content: [text] }] };
    expect(originalPath('messages[1].content[0]', sent, decoded)).to.equal('messages[1].content');
    expect(originalPath('system[0]', { ...decoded, system: [text] }, decoded)).to.equal('system');
    const system = [{ type: 'text', text: 'S' } as const, { ...text, text: 'persona' }];
    expect(originalPath('system[0]', { ...decoded, system }, decoded)).to.equal('system');
    expect(originalPath('system[1]', { ...decoded, system }, decoded)).to.equal(undefined);
  });

  it('does not know a block that a stage has appended', () => {
    const sent: MessagesRequest = { ...decoded, tools: [tool, { name: 'added' }] };
    expect(originalPath('tools[1]', sent, decoded)).to.equal(undefined);
  });
});
