import { expect } from 'chai';
import { decodeChat } from '#plugins/formats/chat/request.js';
import { decodeResponses } from '#plugins/formats/responses/request.js';
import { contextWith } from './contexts.js';

const image = { type: 'image_url', image_url: { url: 'https://x.example/a.png' } };
const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };

describe("the caller's path", () => {
  it('of a part in Chat is that of its own message, wherever its block has gone', () => {
    const messages = [
      { role: 'system', content: 'S' },
      { role: 'user', content: [{ type: 'text', text: 'a' }, image] },
      { role: 'user', content: 'b' },
      { role: 'assistant', content: 'Looking.', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'T' }, image] },
    ];
    const { pathOf, request } = decodeChat({ model: 'm', messages }, contextWith());
    expect(request.messages).to.have.length(3);
    expect(
      [
        'system[0]',
        'messages[0]',
        'messages[0].content[1]',
        'messages[0].content[2]',
        'messages[1].content[1]',
        'messages[2].content[0].content[1]',
      ].map((path) => pathOf!(path)),
    ).to.deep.equal([
      'messages[0].content',
      'messages[1]',
      'messages[1].content[1]',
      'messages[2].content',
      'messages[3].tool_calls[0]',
      'messages[4].content[1]',
    ]);
  });

  it('of a tool and of a setting is the field that the caller wrote', () => {
    const body = {
      model: 'm',
      messages: [{ role: 'user', content: 'x' }],
      tools: [{ type: 'function', function: { name: 'look', parameters: {} } }],
      max_completion_tokens: 5,
      reasoning: { max_tokens: 2000 },
      web_search_options: {},
    };
    const { pathOf } = decodeChat(body, contextWith());
    expect(
      [
        'tools[0]',
        'tools[0].strict',
        'tools[0].input_schema.items',
        'tools[1]',
        'thinking.budget_tokens',
        'max_tokens',
      ].map((path) => pathOf!(path)),
    ).to.deep.equal([
      'tools[0]',
      'tools[0].function.strict',
      'tools[0].function.parameters.items',
      'web_search_options',
      'reasoning.max_tokens',
      'max_completion_tokens',
    ]);
  });

  it('does not exist for what the gateway put into the conversation', () => {
    const messages = [{ role: 'assistant', content: 'I begin.' }];
    const { pathOf } = decodeChat({ model: 'm', messages }, contextWith());
    expect(pathOf!('messages[0].content[0]')).to.equal('messages[0].content');
    expect(pathOf!('messages[1].content[0]')).to.equal(undefined);
  });

  it('of a part in Responses is that of its item', async () => {
    const input = [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'a' },
          { type: 'input_image', image_url: 'https://x.example/a.png' },
        ],
      },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: [
          { type: 'input_text', text: 'T' },
          { type: 'input_image', image_url: 'https://x.example/a.png' },
        ],
      },
    ];
    const body = { model: 'm', instructions: 'I', input };
    const { pathOf } = await decodeResponses(body, contextWith());
    expect(
      ['system[0]', 'messages[0].content[1]', 'messages[1]', 'messages[2].content[0].content[1]'].map(
        (path) => pathOf!(path),
      ),
    ).to.deep.equal(['instructions', 'input[0].content[1]', 'input[1]', 'input[2].output[1]']);
  });
});
