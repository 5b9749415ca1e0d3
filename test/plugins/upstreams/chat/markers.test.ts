import { expect } from 'chai';
import type { ContentBlock, MessagesRequest } from '#src/plugin/index.js';
import { translate } from './translate.js';

type Fields = Readonly<Record<string, unknown>>;

const marker = () => ({ type: 'ephemeral' }) as const;
const text = (said: string, fields: object = {}) => ({ type: 'text', text: said, ...fields }) as const;
const tool = { name: 'look', input_schema: { type: 'object', properties: {} } };

function turns(result: ContentBlock): MessagesRequest['messages'] {
  return [
    { role: 'user', content: [text('Look.')] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'look', input: {} }] },
    { role: 'user', content: [result] },
  ];
}

const result = (content: string | readonly ContentBlock[], fields: object = {}) =>
  ({ type: 'tool_result', tool_use_id: 'c', content, ...fields }) as ContentBlock;

/** Places of the markers in a body. */
function markedIn(body: Fields): readonly string[] {
  const found: string[] = [];
  const look = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value))
      if (name === 'cache_control' && inner !== undefined) found.push(path === '' ? 'top' : path);
      else look(inner, Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`);
  };
  look(body, '');
  return found.map((path) => path.replace(/^\./, ''));
}

const openrouter = { preset: 'openrouter' } as const;

describe('cache markers for OpenRouter', () => {
  it('stand on tools, texts, results and the whole request', () => {
    const { body, dropped } = translate(
      {
        tools: [tool, { ...tool, name: 'find', cache_control: marker() }],
        system: [text('Be brief.', { cache_control: marker() })],
        messages: turns(result('Blue.', { cache_control: marker() })),
        cache_control: marker(),
      },
      openrouter,
    );
    const places = ['tools[1]', 'messages[0].content[0]', 'messages[3].content[0]', 'top'];
    expect(markedIn(body)).to.have.members(places);
    expect(dropped).to.deep.equal([]);
    expect((body['messages'] as readonly Fields[])[3]).to.deep.equal({
      role: 'tool',
      tool_call_id: 'c',
      content: [text('Blue.', { cache_control: marker() })],
    });
  });

  it('of a result stand on its last text, once', () => {
    const content = [text('Blue.', { cache_control: marker() }), text('Green.')];
    const { body } = translate({ messages: turns(result(content, { cache_control: marker() })) }, openrouter);
    expect(markedIn(body)).to.deep.equal(['messages[2].content[0]', 'messages[2].content[1]']);
    const failed = translate(
      { messages: turns(result('', { is_error: true, cache_control: marker() })) },
      openrouter,
    );
    expect(markedIn(failed.body)).to.deep.equal(['messages[2].content[0]']);
  });

  it('are four, the last ones, and the others are reported', () => {
    const content = Array.from({ length: 5 }, (_, at) => text(`${at}`, { cache_control: marker() }));
    const { body, dropped } = translate(
      {
        tools: [{ ...tool, cache_control: marker() }],
        messages: [{ role: 'user', content }],
        cache_control: marker(),
      },
      openrouter,
    );
    const kept = [2, 3, 4].map((at) => `messages[0].content[${at}]`);
    expect(markedIn(body)).to.have.members([...kept, 'top']);
    const lost = [0, 1].map((at) => `messages[0].content[${at}].cache_control`);
    expect(dropped).to.have.members([...lost, 'tools[0].cache_control']);
  });

  it('are reported where no text bears them, or the server takes none', () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } } as const;
    const messages = [{ role: 'user', content: [text('a'), { ...image, cache_control: marker() }] }] as const;
    const { body, dropped } = translate({ messages }, openrouter);
    expect([markedIn(body), dropped]).to.deep.equal([[], ['messages[0].content[1].cache_control']]);
    const all = { messages: turns(result('a', { cache_control: marker() })), cache_control: marker() };
    const plain = translate({ ...all, tools: [{ ...tool, cache_control: marker() }] }, { preset: 'openai' });
    expect(markedIn(plain.body)).to.deep.equal([]);
    expect(plain.dropped).to.have.members([
      'tools[0].cache_control',
      'messages[2].content[0].cache_control',
      'cache_control',
    ]);
  });
});
