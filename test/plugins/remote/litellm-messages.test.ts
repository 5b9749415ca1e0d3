import { expect } from 'chai';
import type { MessagesRequest } from '@gw2api/gateway/plugin';
import { chatMessages } from '#plugins/remote/litellm-messages.js';
import { requestTexts } from '#plugins/shared/request-texts.js';

const image = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
} as const;

const blocks: Exclude<MessagesRequest['messages'][number]['content'], string> = [
  { type: 'text', text: 'a' },
  {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: 'b' },
    title: 'c',
    context: 'd',
  },
  { type: 'search_result', source: 'e', title: 'f', content: [{ type: 'text', text: 'g' }] },
  { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'h' }, image] },
  { type: 'tool_result', tool_use_id: 't2' },
  { type: 'text', text: 'i' },
  image,
  { type: 'tool_use', id: 't3', name: 'look', input: { at: ['j', { deep: 'k' }] } },
  { type: 'thinking', thinking: 'l', signature: 'signed' },
  { type: 'text', text: '' },
];

const shapes: Readonly<Record<string, Partial<MessagesRequest>>> = {
  'all kinds of blocks': { messages: [{ role: 'user', content: blocks }] },
  'blocks in another order': { messages: [{ role: 'assistant', content: blocks.toReversed() }] },
  'results before and after each text': {
    messages: [
      { role: 'user', content: [...blocks, ...blocks].filter(({ type }) => /text|result/.test(type)) },
    ],
  },
  'a list of system texts': {
    system: [
      { type: 'text', text: 'x' },
      { type: 'text', text: 'y' },
    ],
  },
  'a system message': { system: 'x', messages: [{ role: 'system', content: 'y' }] as never },
  'no content': { messages: [{ role: 'user', content: [] }] },
  'messages that nobody has checked': { messages: [null, 'x', {}, { role: 7, content: 8 }] as never },
};

interface ChatMessage {
  readonly role: string;
  readonly content: string | null | readonly { readonly text?: string }[];
}

describe('messages for a guard of LiteLLM', () => {
  for (const [what, shape] of Object.entries(shapes))
    for (const system of [true, false])
      it(`have the content of ${what} in its order, ${system ? 'with' : 'without'} system`, async () => {
        const request: MessagesRequest = {
          model: 'm',
          messages: [{ role: 'user', content: 'one' }],
          ...shape,
        };
        const { texts, places } = requestTexts(request, { system });
        const messages = chatMessages(request, { system }) as readonly ChatMessage[];
        const told = messages.flatMap(({ content }) =>
          typeof content === 'string' ? [content] : (content ?? []).flatMap(({ text }) => text ?? []),
        );
        expect(told).to.deep.equal(texts.filter((_, at) => places[at] === 'content'));
        for (const { role } of messages) expect(role).to.be.a('string');
      });

  it('keep results of tools apart from the other blocks around them', () => {
    const content = [blocks[0]!, blocks[3]!, blocks[4]!, blocks[5]!, blocks[7]!];
    expect(
      chatMessages({ model: 'm', messages: [{ role: 'user', content }] }, { system: false }),
    ).to.deep.equal([
      { role: 'user', content: 'a' },
      {
        role: 'tool',
        tool_call_id: 't1',
        content: [
          { type: 'text', text: 'h' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
      { role: 'tool', tool_call_id: 't2', content: null },
      {
        role: 'user',
        content: 'i',
        tool_calls: [
          { id: 't3', type: 'function', function: { name: 'look', arguments: '{"at":["j",{"deep":"k"}]}' } },
        ],
      },
    ]);
  });
});
