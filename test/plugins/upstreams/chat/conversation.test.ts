import { expect } from 'chai';
import type { ContentBlock, Message } from '#src/plugin/index.js';
import { capabilitiesOf } from '#plugins/upstreams/chat/capabilities.js';
import { chatRequest } from '#plugins/upstreams/chat/request/chat-request.js';
import { sealReasoning } from '#plugins/upstreams/shared/reasoning-envelope.js';
import { translate, translated } from './translate.js';

const text = (text: string) => ({ type: 'text', text }) as const;
const call = (id: string, input: unknown = {}) => ({ type: 'tool_use', id, name: 'look', input }) as const;
const result = (id: string, content: string) => ({ type: 'tool_result', tool_use_id: id, content }) as const;
const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } } as const;
const pngPart = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } };
const webImage = { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } } as const;

const toolTurn: readonly Message[] = [
  { role: 'user', content: 'look' },
  { role: 'assistant', content: [text('I look.'), call('call_1', { at: 'it' }), call('call_2')] },
  { role: 'user', content: [result('call_1', 'one'), result('call_2', 'two')] },
];

const chatToolTurn = [
  { role: 'user', content: 'look' },
  {
    role: 'assistant',
    content: 'I look.',
    tool_calls: [
      { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"it"}' } },
      { id: 'call_2', type: 'function', function: { name: 'look', arguments: '{}' } },
    ],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'one' },
  { role: 'tool', tool_call_id: 'call_2', content: 'two' },
];

const calling = (id: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } });

const other = { type: 'redacted_thinking', data: 'x' } as const;

function documentOf(content: string | readonly ContentBlock[]): ContentBlock {
  return { type: 'document', title: 'Notes', source: { type: 'content', content } };
}

describe('a turn of tool calls alone', () => {
  it('has no content, which is an empty text for llama.cpp', () => {
    const messages = [{ role: 'assistant', content: [call('a')] } as const];
    expect(translated(messages)[0]).to.have.property('content', null);
    expect(translated(messages, { preset: 'llama-cpp' })[0]).to.have.property('content', '');
    expect(translated(messages, { contentBesideCalls: 'empty' })[0]).to.have.property('content', '');
    const twice = [...messages, { role: 'assistant', content: [call('b')] } as const];
    expect(translated(twice, { preset: 'llama-cpp' })[0]).to.have.property('content', '');
    const beside = [{ role: 'assistant', content: [text(''), call('a')] } as const];
    expect(translated(beside)[0]).to.have.property('content', null);
  });
});

describe('the conversation of a Chat request', () => {
  it('begins with the system text in one message, in the role that the server knows', () => {
    const system = [text('Be brief.'), text('Be kind.')];
    const first = (systemRole: 'system' | 'developer') =>
      (translate({ system }, { systemRole }).body['messages'] as readonly object[])[0];
    expect(first('system')).to.deep.equal({ role: 'system', content: 'Be brief.\n\nBe kind.' });
    expect(first('developer')).to.include({ role: 'developer' });
  });

  it('has neighbours of one role as one message where the server needs roles to alternate', () => {
    const messages: readonly Message[] = [
      { role: 'user', content: 'a' },
      { role: 'user', content: [text('b')] },
      { role: 'assistant', content: 'c' },
      { role: 'assistant', content: [call('call_1')] },
      { role: 'user', content: [result('call_1', 'one')] },
    ];
    const joined = [
      { role: 'user', content: 'a\n\nb' },
      { ...chatToolTurn[1], content: 'c', tool_calls: [calling('call_1')] },
      chatToolTurn[2],
    ];
    for (const preset of ['vllm', 'llama-cpp', 'mistral', 'generic'] as const)
      expect(JSON.stringify(translated(messages, { preset, toolCallIds: 'any', textParts: false }))).to.equal(
        JSON.stringify(joined),
      );
    expect(translated(messages, { preset: 'openai' })).to.have.length(5);
  });

  it('begins with a user where roles must alternate, for callers of formats in which a model may begin', () => {
    const begun = { model: 'm', messages: [{ role: 'assistant', content: 'Welcome!' } as const] };
    const roles = (preset: 'vllm' | 'openai', isTranslated: boolean) => {
      const capabilities = capabilitiesOf({ preset, unsupported: 'report' }, 's');
      return chatRequest(begun, capabilities, { isTranslated }).body.messages.map(({ role }) => role);
    };
    expect(roles('vllm', true)).to.deep.equal(['user', 'assistant']);
    expect(roles('vllm', false)).to.deep.equal(['assistant']);
    expect(roles('openai', true)).to.deep.equal(['assistant']);
  });

  it('has the last of several results of a call, in the place of the first, which is reported', () => {
    const again: readonly Message[] = [
      ...toolTurn,
      { role: 'user', content: [result('call_1', 'three'), text('And?')] },
    ];
    const { body, dropped } = translate({ messages: again });
    expect(body['messages']).to.deep.equal([
      ...chatToolTurn.slice(0, 2),
      { ...chatToolTurn[2], content: 'three' },
      chatToolTurn[3],
      { role: 'user', content: 'And?' },
    ]);
    expect(dropped).to.deep.equal(['messages[2].content[0]']);
  });

  const late: readonly Message[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'hi' },
    { role: 'system', content: 'Mode: plan.' },
    { role: 'assistant', content: 'Hello' },
    { role: 'system', content: 'Mode: act.' },
  ];

  it('has late system text where it stood, in system messages if the server takes them there', () => {
    expect(translated(late, { systemAnywhere: true })).to.deep.equal(late);
  });

  it('has it as marked text in the user message before, else in one of its own', () => {
    expect(translated(late)).to.deep.equal([
      late[0],
      { role: 'user', content: [text('hi'), text('[System] Mode: plan.')] },
      late[3],
      { role: 'user', content: '[System] Mode: act.' },
    ]);
    expect(translated(late, { textParts: false })[1]).to.deep.equal({
      role: 'user',
      content: 'hi\n\n[System] Mode: plan.',
    });
  });

  it('has it behind tool messages as a user message, or in the last one where no user may follow', () => {
    const [user, assistant, results] = toolTurn;
    const messages = [user!, assistant!, late[2]!, results!];
    const system = '[System] Mode: plan.';
    expect(translated(messages)).to.deep.equal([...chatToolTurn, { role: 'user', content: system }]);
    expect(translated(messages, { userAfterTool: false })).to.deep.equal([
      ...chatToolTurn.slice(0, 3),
      { role: 'tool', tool_call_id: 'call_2', content: `two\n\n${system}` },
    ]);
  });

  it('has parallel tool calls in one message, and each result in a tool message right after it', () => {
    expect(translated(toolTurn)).to.deep.equal(chatToolTurn);
  });

  it('brings results that stand further down to their calls', () => {
    const [user, assistant] = toolTurn;
    const apart: readonly Message[] = [
      user!,
      assistant!,
      { role: 'system', content: 'Mode: plan.' },
      { role: 'user', content: [text('Wait.'), result('call_2', 'two')] },
      { role: 'user', content: [result('call_1', 'one')] },
    ];
    const [plan, wait] = [
      { role: 'system', content: 'Mode: plan.' },
      { role: 'user', content: 'Wait.' },
    ];
    expect(translated(apart, { systemAnywhere: true })).to.deep.equal([...chatToolTurn, plan, wait]);
  });

  it('gives each of two calls with one id the result that follows it', () => {
    const turns = ['one', 'two'].flatMap((answer): readonly Message[] => [
      { role: 'assistant', content: [call('call_0')] },
      { role: 'user', content: [result('call_0', answer)] },
    ]);
    const answers = translated(turns).flatMap((message) =>
      (message as { role: string }).role === 'tool' ? [(message as unknown as Message).content] : [],
    );
    expect(answers).to.deep.equal(['one', 'two']);
  });

  it('puts what a user says after results behind them', () => {
    const content = [...(toolTurn[2]!.content as []), text('And?')];
    const messages = translated([...toolTurn.slice(0, 2), { role: 'user', content }]);
    expect(messages).to.deep.equal([...chatToolTurn, { role: 'user', content: 'And?' }]);
    const spaced = translated([...toolTurn.slice(0, 2), { role: 'user', content }], { preset: 'mistral' });
    expect(spaced.slice(-2)).to.deep.equal([
      { role: 'assistant', content: 'Done.' },
      { role: 'user', content: 'And?' },
    ]);
  });

  it('shows images of tool results in a user message, as tool messages carry texts alone', () => {
    const content = [{ type: 'tool_result', tool_use_id: 'call_1', content: [text('here'), png] } as const];
    const messages = translated([
      { role: 'assistant', content: [call('call_1')] },
      { role: 'user', content },
    ]);
    expect(messages.slice(1)).to.deep.equal([
      { role: 'tool', tool_call_id: 'call_1', content: 'here' },
      { role: 'user', content: [pngPart] },
    ]);
  });

  it('says in a tool message without a text where its images are', () => {
    const content = [{ type: 'tool_result', tool_use_id: 'call_1', content: [png, webImage] } as const];
    const [, ...messages] = translated([
      { role: 'assistant', content: [call('call_1')] },
      { role: 'user', content },
    ]);
    expect(messages[0]).to.include({ role: 'tool', content: '[image in the next user message]' });
    expect(messages[1]).to.have.property('content').with.length(2);
  });

  it('says of a failed call that it failed', () => {
    const failed = (content: string) =>
      translated([
        { role: 'assistant', content: [call('call_1')] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content, is_error: true }] },
      ])[1];
    expect(failed('no such file')).to.include({ content: 'Error: no such file' });
    expect(failed('Error: no such file')).to.include({ content: 'Error: no such file' });
  });

  it('says so in the same words where a part bears a marker', () => {
    const failed = (said: string) => {
      const part = { ...text(said), cache_control: { type: 'ephemeral' } } as const;
      const messages: readonly Message[] = [
        { role: 'assistant', content: [call('call_1')] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'call_1', content: [part], is_error: true }],
        },
      ];
      return (translated(messages, { preset: 'openrouter' })[1] as { content: readonly object[] }).content;
    };
    expect(failed('gone')[0]).to.include(text('Error: gone'));
    expect(failed('ERROR 5')[0]).to.include(text('ERROR 5'));
  });

  it('has the texts and images of documents that are made of blocks, and reports their other blocks', () => {
    const { body, dropped } = translate({
      messages: [{ role: 'user', content: [documentOf([text('one'), png, other]), documentOf('two')] }],
    });
    expect(body['messages']).to.deep.equal([
      { role: 'user', content: [text('Notes'), text('one'), pngPart, text('Notes'), text('two')] },
    ]);
    expect(dropped).to.deep.equal(['messages[0].content[0].source.content[2]']);
  });

  it('has images as data URLs and URLs, as far as the server takes them', () => {
    const content = [text('see'), png, webImage];
    const { body } = translate({ messages: [{ role: 'user', content }] });
    expect(body['messages']).to.deep.equal([
      {
        role: 'user',
        content: [text('see'), pngPart, { type: 'image_url', image_url: { url: 'https://a.example/b.png' } }],
      },
    ]);
    const data = translate({ messages: [{ role: 'user', content }] }, { images: 'data' });
    expect(data.dropped).to.deep.equal(['messages[0].content[2]']);
    const none = translate({ messages: [{ role: 'user', content }] }, { images: 'none' });
    expect(none.body['messages']).to.deep.equal([{ role: 'user', content: 'see' }]);
    expect(none.dropped).to.deep.equal(['messages[0].content[1]', 'messages[0].content[2]']);
  });

  it('says in words what a turn or a result held, where nothing else of it remains', () => {
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'sig' } as const;
    const shot = { type: 'tool_result', tool_use_id: 'call_1', content: [png, png] } as const;
    const found = {
      type: 'tool_result',
      tool_use_id: 'call_2',
      content: [{ type: 'tool_reference', tool_name: 'fetch' }] as never,
    } as const;
    const messages: readonly Message[] = [
      { role: 'user', content: [png] },
      { role: 'assistant', content: [thinking] },
      { role: 'user', content: [text('Go on.'), png] },
      { role: 'assistant', content: [call('call_1'), call('call_2')] },
      { role: 'user', content: [shot, found] },
      { role: 'user', content: '' },
    ];
    const { body, dropped } = translate({ messages }, { images: 'none' });
    const image = '[image left out: this model reads text only]';
    const sent = body['messages'] as readonly { content: unknown }[];
    expect(sent.map(({ content }) => content)).to.deep.equal([
      image,
      '[thinking left out: only the model that wrote it can read it]',
      'Go on.',
      null,
      image,
      'Loaded tools: fetch',
      '',
    ]);
    expect(dropped).to.deep.equal([
      'messages[0].content[0]',
      'messages[1].content[0]',
      'messages[2].content[1]',
      'messages[4].content[0].content[0]',
      'messages[4].content[0].content[1]',
      'messages[4].content[1].content[0]',
    ]);
  });

  it('has documents as files where the server takes them; texts go as text', () => {
    const pdf = {
      type: 'document',
      title: 'a.pdf',
      source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' },
    } as const;
    const plain = {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'hi' },
    } as const;
    const messages: readonly Message[] = [{ role: 'user', content: [pdf, plain] }];
    const file = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' };
    expect(translate({ messages }, { files: true }).body['messages']).to.deep.equal([
      { role: 'user', content: [{ type: 'file', file }, text('hi')] },
    ]);
    const { body, dropped } = translate({ messages });
    expect(body['messages']).to.deep.equal([{ role: 'user', content: 'hi' }]);
    expect(dropped).to.deep.equal(['messages[0].content[0]']);
  });

  it('has no cache markers, except for a server that takes them', () => {
    const marked = { ...text('long'), cache_control: { type: 'ephemeral' } } as const;
    const messages: readonly Message[] = [{ role: 'user', content: [marked] }];
    const dropped = ['system[0].cache_control', 'messages[0].content[0].cache_control'];
    expect(translate({ messages, system: [marked] })).to.deep.include({ dropped });
    expect(JSON.stringify(translate({ messages, system: [marked] }).body)).not.to.include('cache_control');
    expect(translate({ messages, system: [marked] }, { cacheControl: true }).body['messages']).to.deep.equal([
      { role: 'system', content: [marked] },
      { role: 'user', content: [marked] },
    ]);
  });

  it('has several texts as parts for a server that takes markers, wherever the marker is now', () => {
    const [a, b] = [text('a'), text('b')];
    const marked = { ...b, cache_control: { type: 'ephemeral' } } as const;
    const turns = (last: ContentBlock): readonly Message[] => [
      { role: 'assistant', content: [call('call_1'), a, last] },
      { role: 'user', content: [{ ...result('call_1', ''), is_error: true, content: [a, last] }] },
    ];
    const unmarked = (messages: readonly Message[]) =>
      JSON.parse(
        JSON.stringify(translated(messages, { cacheControl: true }), (key, value: unknown) =>
          key === 'cache_control' ? undefined : value,
        ),
      ) as unknown;
    expect(unmarked(turns(marked))).to.deep.equal(translated(turns(b), { cacheControl: true }));
    expect(translated(turns(b), { cacheControl: true })[1]).to.deep.include({
      content: [text('Error: a'), b],
    });
  });

  it('tells several texts of a user apart, or joins them for a server that takes strings alone', () => {
    const messages: readonly Message[] = [{ role: 'user', content: [text('a'), text('b')] }];
    expect(translated(messages)).to.deep.equal([{ role: 'user', content: [text('a'), text('b')] }]);
    expect(translated(messages, { textParts: false })).to.deep.equal([{ role: 'user', content: 'a\n\nb' }]);
  });

  it('leaves out results of tools that another vendor has run, and reports them', () => {
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} } as const;
    const found = { type: 'web_search_tool_result', tool_use_id: 's', content: [] } as const;
    const content = [search, found, text('Found.')];
    const { body, dropped } = translate({
      messages: [
        { role: 'assistant', content },
        { role: 'user', content: 'hi' },
      ],
    });
    expect((body['messages'] as readonly object[])[0]).to.deep.equal({
      role: 'assistant',
      content: 'Found.',
    });
    expect(dropped).to.deep.equal(['messages[0].content[0]', 'messages[0].content[1]']);
  });

  it('goes on with a last assistant message, as the server does that', () => {
    const messages: readonly Message[] = [
      { role: 'user', content: 'count' },
      { role: 'assistant', content: '1, 2,' },
    ];
    const last = { role: 'assistant', content: '1, 2,' };
    const answered = translate({ messages });
    expect(answered.dropped).to.deep.equal(['messages[1].prefix']);
    expect((answered.body['messages'] as object[])[1]).to.deep.equal(last);
    const plain = translate({ messages }, { prefill: 'plain' });
    expect([plain.dropped, (plain.body['messages'] as object[])[1]]).to.deep.equal([[], last]);
    expect(translated(messages, { prefill: 'prefix' })[1]).to.deep.equal({ ...last, prefix: true });
  });

  it('has ids of tool calls that the server takes, the same for calls and results', () => {
    const ids = (id: string, preset: 'generic' | 'mistral') => {
      const messages = translated(
        [
          { role: 'assistant', content: [call(id)] },
          { role: 'user', content: [result(id, 'one')] },
        ],
        { preset },
      ) as readonly [{ tool_calls: { id: string }[] }, { tool_call_id: string }];
      expect(messages[1].tool_call_id).to.equal(messages[0].tool_calls[0]!.id);
      return messages[1].tool_call_id;
    };
    expect(ids('toolu_1', 'generic')).to.equal('toolu_1');
    expect(ids('x'.repeat(64), 'generic')).to.have.length.at.most(40);
    expect(ids('abcDEF123', 'mistral')).to.equal('abcDEF123');
    expect(ids('toolu_1', 'mistral')).to.match(/^[a-zA-Z0-9]{9}$/);
  });
});

describe('thinking in a Chat request', () => {
  const turn = (thinking: object | undefined): readonly Message[] => [
    { role: 'user', content: 'look' },
    { role: 'assistant', content: [...(thinking ? [thinking as never] : []), call('call_1')] },
    { role: 'user', content: [result('call_1', 'one')] },
  ];
  const details = [{ type: 'reasoning.encrypted', data: 'x', index: 0 }];
  const thought = (signature: string) => ({ type: 'thinking', thinking: 'Hm.', signature });

  it('goes back as reasoning_content on tool turns, empty where it is not known', () => {
    const own = thought(sealReasoning({ vendor: 'deepseek' }));
    expect(translated(turn(own), { preset: 'deepseek' })[1]).to.include({ reasoning_content: 'Hm.' });
    expect(translated(turn(undefined), { preset: 'deepseek' })[1]).to.include({ reasoning_content: '' });
  });

  it('goes back as reasoning to servers that read it so', () => {
    for (const preset of ['ollama', 'vllm'] as const)
      expect(translated(turn(thought(sealReasoning({ vendor: preset }))), { preset })[1]).to.include({
        reasoning: 'Hm.',
      });
  });

  it('is left out for a server that does not read it, and reported', () => {
    const { body, dropped } = translate({ messages: turn(thought('sig')) });
    expect(JSON.stringify(body)).not.to.match(/Hm|sig/);
    expect(dropped).to.deep.equal(['messages[1].content[0]']);
  });

  it('goes back with its details to the vendor that gave them, and to no other', () => {
    const back = (vendor: string) => {
      const messages = turn(thought(sealReasoning({ vendor, data: details })));
      return translated(messages, { preset: 'openrouter' })[1] as { reasoning_details?: unknown };
    };
    expect(back('openrouter').reasoning_details).to.deep.equal(details);
    expect(back('slot-b')).not.to.have.property('reasoning_details');
    expect(translated(turn(thought('sig')), { preset: 'openrouter' })[1]).not.to.have.property(
      'reasoning_details',
    );
  });
});
