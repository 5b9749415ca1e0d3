import { expect } from 'chai';
import { extrasOf } from '@gw2api/gateway/plugin';
import { reasoningEnvelope } from '@gw2api/gateway/plugin/format';
import chat from '#plugins/formats/chat/index.js';
import { decodeChat } from '#plugins/formats/chat/request.js';
import { sealReasoning } from '#plugins/formats/shared/reasoning.js';
import { contextWith, frozen } from '../contexts.js';
import { end, made, messageStart, tool } from '../events.js';
import { foldChat, wholeChat } from '../grammar/chat.js';
import { refusal } from '../refusals.js';
import { replyOf, streamed, whole } from '../streams.js';

const user = { role: 'user', content: 'Hi' };
const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const patch = '*** Begin Patch\n*** End Patch\n';
const format = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' };
const flatPatch = { type: 'custom', name: 'ApplyPatch', description: 'Edits.', format };

const context = () => contextWith({ id: 'm' });

function decode(fields: object) {
  return decodeChat(frozen({ model: 'm', messages: [user], ...fields }), context());
}

async function decodeAny(fields: object) {
  return chat.decode(frozen({ model: 'm', ...fields }), context());
}

/** The blocks of a user's message with these parts, after a turn that has called `a`. */
function blocks(...content: readonly object[]) {
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
  const { request } = decode({
    messages: [user, { role: 'assistant', tool_calls: [call] }, { role: 'user', content }],
  });
  return request.messages[2]?.content;
}

describe('a Chat request in the shape of another format', () => {
  it('has tools that are not nested', () => {
    const { request, dropped } = decode({
      tools: [
        {
          name: 'list_dir',
          description: 'Lists.',
          input_schema: schema,
          cache_control: { type: 'ephemeral' },
        },
        { type: 'custom', name: 'read_file', input_schema: schema },
        { type: 'function', name: 'stat', parameters: schema },
      ],
    });
    expect(request.tools).to.deep.equal([
      { name: 'list_dir', description: 'Lists.', input_schema: schema, cache_control: { type: 'ephemeral' } },
      { name: 'read_file', input_schema: schema },
      { name: 'stat', input_schema: schema },
    ]);
    expect(dropped).to.deep.equal([]);
  });

  it('calls tools and gives their results in blocks of the content', () => {
    const { request } = decode({
      tools: [{ name: 'list_dir', input_schema: schema }],
      messages: [
        user,
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'toolu_1', name: 'list_dir', input: { path: '.' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Go on.' },
            {
              type: 'tool_result',
              tool_use_id: 'toolu_1',
              is_error: true,
              content: [{ type: 'text', text: 'No such folder.' }],
              cache_control: { type: 'ephemeral' },
            },
          ],
        },
      ],
    });
    expect(request.messages.slice(1)).to.deep.equal([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'toolu_1', name: 'list_dir', input: { path: '.' } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: [{ type: 'text', text: 'No such folder.' }],
            is_error: true,
            cache_control: { type: 'ephemeral' },
          },
          { type: 'text', text: 'Go on.' },
        ],
      },
    ]);
  });

  it('reads images, documents and the parts of Responses', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } };
    const web = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
    const document = {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'Text.' },
      title: 'A',
    };
    expect(
      blocks(
        image,
        document,
        { type: 'input_text', text: 'What is it?' },
        { type: 'input_image', image_url: 'https://example.com/a.png' },
        { type: 'input_image', image_url: { url: 'https://example.com/a.png' } },
        { type: 'output_text', text: 'A cat.' },
      ),
    ).to.deep.equal([
      image,
      document,
      { type: 'text', text: 'What is it?' },
      web,
      web,
      { type: 'text', text: 'A cat.' },
    ]);
    const result = [{ type: 'text', text: 'Seen.' }, image];
    expect(blocks({ type: 'tool_result', tool_use_id: 'a', content: result })).to.deep.equal([
      { type: 'tool_result', tool_use_id: 'a', content: result },
    ]);
  });

  it('keeps thinking that is signed, and marks what is not', () => {
    const signed = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };
    const hidden = { type: 'redacted_thinking', data: 'ZGF0YQ==' };
    const said = { type: 'text', text: 'Yes.' };
    const content = [
      signed,
      { type: 'thinking', thinking: 'Unsigned.' },
      { type: 'thinking', thinking: 'Unsigned.', signature: '' },
      { type: 'thinking', thinking: '' },
      hidden,
      said,
    ];
    const plain = {
      type: 'thinking',
      thinking: 'Unsigned.',
      signature: reasoningEnvelope.seal({ vendor: '' }),
    };
    const { request } = decode({ messages: [user, { role: 'assistant', content }, user] });
    expect(request.messages[1]?.content).to.deep.equal([signed, plain, plain, hidden, said]);
  });

  it('chooses tools by the words of Messages', () => {
    const tools = [{ name: 'f', input_schema: schema }];
    const choiceOf = (tool_choice: object) => decode({ tools, tool_choice }).request.tool_choice;
    expect(choiceOf({ type: 'auto' })).to.deep.equal({ type: 'auto' });
    expect(choiceOf({ type: 'any' })).to.deep.equal({ type: 'any' });
    expect(choiceOf({ type: 'tool', name: 'f' })).to.deep.equal({ type: 'tool', name: 'f' });
    expect(choiceOf({ type: 'function', name: 'f' })).to.deep.equal({ type: 'tool', name: 'f' });
    expect(choiceOf({ type: 'any', disable_parallel_tool_use: true })).to.deep.equal({
      type: 'any',
      disable_parallel_tool_use: true,
    });
  });

  it('is refused with the place of what is wrong', async () => {
    const messages = (part: object) => ({ messages: [{ role: 'user', content: [part] }] });
    const of = (part: object) => refusal(() => decode(messages(part)));
    expect(await of({ type: 'tool_result' })).to.equal('messages[0].content[0].tool_use_id: is required');
    expect(await of({ type: 'hologram' })).to.include('has the type "hologram"');
  });
});

describe('custom tools that are not nested', () => {
  const events = [
    ...made(messageStart()),
    ...tool('toolu_1', 'ApplyPatch', JSON.stringify({ input: patch })),
    ...end('tool_use'),
  ];
  const call = { id: 'toolu_1', type: 'function', name: 'ApplyPatch', text: patch };

  it('are called as functions with the text as it is, whole and streamed', async () => {
    const body = { model: 'm', messages: [user], tools: [flatPatch] };
    const { text } = await streamed(chat, body, replyOf(events));
    expect(foldChat(text, { usage: false }).choices[0]?.message.tool_calls).to.deep.equal([call]);
    const reply = wholeChat(await whole(chat, body, replyOf(events)));
    expect(reply.choices[0]?.message.tool_calls).to.deep.equal([call]);
  });

  it('stay custom where they are nested', async () => {
    const nested = {
      type: 'custom',
      custom: { name: 'ApplyPatch', format: { type: 'grammar', grammar: format } },
    };
    const body = { model: 'm', messages: [user], tools: [nested] };
    const { text } = await streamed(chat, body, replyOf(events));
    expect(foldChat(text, { usage: false }).choices[0]?.message.tool_calls).to.deep.equal([
      { ...call, type: 'custom' },
    ]);
  });

  it('read their calls back as text', () => {
    const called = { id: 'toolu_1', type: 'function', function: { name: 'ApplyPatch', arguments: patch } };
    const { request, dropped } = decode({
      tools: [flatPatch, { type: 'function', function: { name: 'read', parameters: schema } }],
      messages: [
        user,
        { role: 'assistant', content: null, tool_calls: [called] },
        { role: 'tool', tool_call_id: 'toolu_1', content: 'Done.' },
      ],
    });
    expect(request.messages[1]?.content).to.deep.equal([
      { type: 'tool_use', id: 'toolu_1', name: 'ApplyPatch', input: { input: patch } },
    ]);
    expect(request.tools?.map(({ name }) => name)).to.deep.equal(['ApplyPatch', 'read']);
    expect(dropped).to.deep.equal(['tools[0].format']);
  });
});

describe('a Chat request with `input`', () => {
  const input = [
    { role: 'system', content: 'You edit files.' },
    { role: 'user', content: [{ type: 'input_text', text: 'Patch it.' }] },
    { type: 'function_call', call_id: 'c1', name: 'ApplyPatch', arguments: patch },
    { type: 'function_call_output', call_id: 'c1', output: 'Done.' },
    { type: 'custom_tool_call', call_id: 'c2', name: 'ApplyPatch', input: 'x' },
    { type: 'custom_tool_call_output', call_id: 'c2', output: 'Done.' },
  ];
  const agent = {
    model: 'm',
    stream: true,
    stream_options: { include_usage: true },
    input,
    tools: [
      flatPatch,
      { type: 'function', function: { name: 'read', parameters: schema } },
      { name: 'list_dir', input_schema: schema },
    ],
    tool_choice: { type: 'any' },
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'high', summary: 'auto' },
    store: false,
    max_output_tokens: 500,
  };

  it('is read as a Responses request', async () => {
    const { request, stream, dropped } = await decodeAny(agent);
    expect(stream).to.equal(true);
    expect(dropped).to.deep.equal(['tools[0].format']);
    expect(request).to.deep.include({ max_tokens: 500, tool_choice: { type: 'any' } });
    expect(request.system).to.deep.equal([{ type: 'text', text: 'You edit files.' }]);
    expect(request.tools?.map(({ name }) => name)).to.deep.equal(['ApplyPatch', 'read', 'list_dir']);
    expect(request.tools?.[2]?.input_schema).to.deep.equal(schema);
    expect(request.messages).to.deep.equal([
      { role: 'user', content: [{ type: 'text', text: 'Patch it.' }] },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'c1', name: 'ApplyPatch', input: { input: patch } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'Done.' }] },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'c2', name: 'ApplyPatch', input: { input: 'x' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c2', content: 'Done.' }] },
    ]);
  });

  it('is answered with chunks of Chat', async () => {
    const events = [
      ...made(messageStart()),
      ...tool('toolu_1', 'ApplyPatch', JSON.stringify({ input: patch })),
      ...end('tool_use'),
    ];
    const { text } = await streamed(chat, agent, replyOf(events));
    expect(text).to.include('[DONE]');
    const folded = foldChat(text, { usage: true });
    expect(folded.choices[0]?.message.tool_calls).to.deep.equal([
      { id: 'toolu_1', type: 'function', name: 'ApplyPatch', text: patch },
    ]);
    expect(folded.choices[0]?.finish_reason).to.equal('tool_calls');
  });

  it('takes a text, the limit and the format of Chat, and our own reasoning', async () => {
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' } as const;
    const { request } = await decodeAny({
      input: [
        { role: 'user', content: 'Hi' },
        { type: 'reasoning', summary: [], encrypted_content: sealReasoning(thought) },
        { role: 'assistant', content: 'Yes?' },
        { role: 'user', content: 'Hi' },
      ],
      max_tokens: 7,
    });
    expect(request.max_tokens).to.equal(7);
    expect(request.messages[1]?.content).to.deep.equal([thought, { type: 'text', text: 'Yes?' }]);
    const text = await decodeAny({ input: 'Hi' });
    expect(text.request.messages).to.deep.equal([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]);
  });

  it('is one of Chat where it also has messages', async () => {
    const { request } = await decodeAny({ messages: [user], input: 'Other' });
    expect(JSON.stringify(request.messages)).to.include('Hi').and.not.include('Other');
    expect(extrasOf(request)).to.deep.equal({ input: 'Other' });
  });
});
