import { expect } from 'chai';
import type { BlockOf } from '@gw2api/gateway/plugin';
import { chunk, eventsOf, translate } from './answers.js';

interface CallPart {
  readonly id?: string | null;
  readonly index?: number;
  readonly name?: string | null;
  readonly args?: unknown;
}

function call({ id, index, name, args }: CallPart): object {
  return {
    ...(id !== undefined && { id }),
    ...(index !== undefined && { index }),
    type: 'function',
    function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
  };
}

/** Tool calls of an answer whose chunks have these parts, one a chunk. */
async function callsOf(...parts: readonly (CallPart | readonly CallPart[])[]): Promise<readonly unknown[]> {
  const chunks = parts.map((part) => chunk({ tool_calls: [part].flat().map((each) => call(each)) }));
  const { message } = await translate(...chunks, chunk({}, 'tool_calls'), '[DONE]');
  expect(message.stop_reason).to.equal('tool_use');
  return message.content.map((block) => {
    const { id, name, input } = block as BlockOf<'tool_use'>;
    return [id, name, input];
  });
}

describe('the tool calls of a Chat server', () => {
  it('are one block each, with the input that their pieces spell', async () => {
    expect(
      await callsOf(
        { index: 0, id: 'a', name: 'add', args: '' },
        { index: 0, args: '{"x":' },
        { index: 0, args: ' "}"}' },
        { index: 1, id: 'b', name: 'sub', args: '' },
        { index: 1, args: '{"y":1}' },
      ),
    ).to.deep.equal([
      ['a', 'add', { x: '}' }],
      ['b', 'sub', { y: 1 }],
    ]);
  });

  it('stream as their pieces come', () => {
    const events = eventsOf(
      chunk({ tool_calls: [call({ index: 0, id: 'a', name: 'add', args: '{"x"' })] }),
      chunk({ tool_calls: [call({ index: 0, args: ':1}' })] }, 'tool_calls'),
      '[DONE]',
    );
    expect(events.filter(({ type }) => type === 'content_block_delta')).to.have.length(2);
  });

  it('may all have index 0', async () => {
    expect(
      await callsOf([
        { index: 0, id: 'a', name: 'add', args: '{"x":1}' },
        { index: 0, id: 'b', name: 'add', args: '{"x":2}' },
      ]),
    ).to.deep.equal([
      ['a', 'add', { x: 1 }],
      ['b', 'add', { x: 2 }],
    ]);
  });

  it('may all have index 0, in pieces', async () => {
    expect(
      await callsOf(
        { index: 0, id: 'a', name: 'add', args: '' },
        { index: 0, id: 'a', args: '{"x":1}' },
        { index: 0, id: 'b', name: 'add', args: '' },
        { index: 0, id: 'b', args: '{"x":2}' },
      ),
    ).to.deep.equal([
      ['a', 'add', { x: 1 }],
      ['b', 'add', { x: 2 }],
    ]);
  });

  it('may have neither index nor id: a complete one is followed by the next', async () => {
    const calls = await callsOf({ name: 'add', args: '{"x":1}' }, { name: 'add', args: '{"x":2}' });
    expect(calls.map((each) => (each as unknown[]).slice(1))).to.deep.equal([
      ['add', { x: 1 }],
      ['add', { x: 2 }],
    ]);
    const ids = calls.map((each) => String((each as unknown[])[0]));
    expect(new Set(ids)).to.have.property('size', 2);
    expect(ids[0]).to.match(/^call_[0-9a-f]{24}$/);
  });

  it('may have no index, and a name in each piece', async () => {
    expect(
      await callsOf(
        { id: 'a', name: 'add', args: '{"x"' },
        { id: 'a', name: 'add', args: ':1}' },
        { id: 'b', name: 'add', args: '{}' },
      ),
    ).to.deep.equal([
      ['a', 'add', { x: 1 }],
      ['b', 'add', {}],
    ]);
  });

  it('are not found by their place in the chunk', async () => {
    expect(
      await callsOf(
        [
          { index: 0, id: 'a', name: 'add', args: '' },
          { index: 1, id: 'b', name: 'sub', args: '' },
        ],
        [{ index: 1, args: '{"y"' }],
        [
          { index: 1, args: ':1}' },
          { index: 0, args: '{"x":1}' },
        ],
      ),
    ).to.deep.equal([
      ['a', 'add', { x: 1 }],
      ['b', 'sub', { y: 1 }],
    ]);
  });

  it('may begin at another index than 0', async () => {
    expect(await callsOf({ index: 1, id: 'a', name: 'add', args: '{}' })).to.deep.equal([['a', 'add', {}]]);
  });

  it('may have their arguments as an object, or none', async () => {
    expect(
      await callsOf({ index: 0, id: 'a', name: 'add', args: { x: [1] } }, { index: 1, id: 'b', name: 'now' }),
    ).to.deep.equal([
      ['a', 'add', { x: [1] }],
      ['b', 'now', {}],
    ]);
  });

  it('may have a new id in each piece', async () => {
    expect(
      await callsOf({ index: 0, id: 'a', name: 'add', args: '{"x"' }, { index: 0, id: 'b', args: ':1}' }),
    ).to.deep.equal([['a', 'add', { x: 1 }]]);
  });

  it('get ids of their own where two have the same', async () => {
    const calls = await callsOf(
      { index: 0, id: 'a', name: 'add', args: '{"x":1}' },
      { index: 1, id: 'a', name: 'add', args: '{"x":2}' },
    );
    expect(new Set(calls.map((each) => (each as unknown[])[0]))).to.have.property('size', 2);
  });

  it('may come as the legacy function call', async () => {
    const { message } = await translate(
      chunk({ function_call: { name: 'add', arguments: '{"x"' } }),
      chunk({ function_call: { arguments: ':1}' } }),
      chunk({}, 'function_call'),
      '[DONE]',
    );
    expect(message.content[0]).to.deep.include({ type: 'tool_use', name: 'add', input: { x: 1 } });
    expect(message.stop_reason).to.equal('tool_use');
  });

  it('wait for their results also where the server says "stop"', async () => {
    const { message } = await translate(
      chunk({ tool_calls: [call({ index: 0, id: 'a', name: 'add', args: '{}' })] }),
      chunk({}, 'stop'),
      '[DONE]',
    );
    expect(message.stop_reason).to.equal('tool_use');
  });

  it('are cut where the answer is', async () => {
    const { message } = await translate(
      chunk({ tool_calls: [call({ index: 0, id: 'a', name: 'add', args: '{"x' })] }, 'length'),
      '[DONE]',
    );
    expect(message.stop_reason).to.equal('max_tokens');
    expect(message.content[0]).to.deep.include({ input: {} });
  });

  it('are cut where their arguments are, also where the server says otherwise', async () => {
    for (const finish of ['tool_calls', 'stop'])
      for (const args of ['{"cmd":"rm -rf /tmp/a', '{"cmd":"ls"', '{"n":1}}', 'rm']) {
        const { events, message } = await translate(
          chunk({ tool_calls: [call({ index: 0, id: 'a', name: 'sh', args })] }),
          chunk({}, finish),
          '[DONE]',
        );
        expect(message.stop_reason, args).to.equal('max_tokens');
        const ends = events.filter(({ type }) => type === 'message_delta').map(({ json }) => json);
        expect(ends, args).to.have.nested.property('[0].delta.stop_reason', 'max_tokens');
      }
  });

  it('are cut where one of several is', async () => {
    const { message } = await translate(
      chunk({ tool_calls: [call({ index: 0, id: 'a', name: 'sh', args: '{"cmd":"l' })] }),
      chunk({ tool_calls: [call({ index: 1, id: 'b', name: 'sh', args: '{"cmd":"ls"}' })] }, 'tool_calls'),
      '[DONE]',
    );
    expect(message.stop_reason).to.equal('max_tokens');
  });

  it('are nothing where they have neither id, name nor arguments', async () => {
    const nothing = { name: '', arguments: '' };
    const { message } = await translate(
      chunk({ content: 'Hi', function_call: nothing }),
      chunk({ content: ' there', tool_calls: [{ index: 0, id: '', function: nothing }] }),
      chunk({ function_call: null, tool_calls: [{ index: 0, id: 'a', function: nothing }] }, 'stop'),
      '[DONE]',
    );
    expect(message.content).to.deep.equal([{ type: 'text', text: 'Hi there' }]);
    expect(message.stop_reason).to.equal('end_turn');
  });

  it('may begin with {} before their arguments', async () => {
    expect(
      await callsOf(
        { index: 0, id: 'a', name: 'add', args: '{}' },
        { index: 1, id: 'b', name: 'now', args: '{}' },
        { index: 0, args: '{"x"' },
        { index: 0, args: ':1}' },
      ),
    ).to.deep.equal([
      ['a', 'add', { x: 1 }],
      ['b', 'now', {}],
    ]);
  });

  it('keep a lone {} as they came', () => {
    const events = eventsOf(
      chunk({ tool_calls: [call({ index: 0, id: 'a', name: 'now', args: '{}' })] }),
      chunk({ content: 'So.' }, 'tool_calls'),
      '[DONE]',
    );
    const jsons = events.map(({ json }) => json).filter(({ type }) => type === 'content_block_delta');
    expect(jsons[0]).to.have.deep.property('delta', { type: 'input_json_delta', partial_json: '{}' });
    expect(jsons[1]).to.have.nested.property('delta.text', 'So.');
  });

  it('may come as an object: one call, or calls by their index', async () => {
    const add = call({ id: 'a', name: 'add', args: '{"x":1}' });
    for (const tool_calls of [add, { '0': add }]) {
      const { message } = await translate(chunk({ tool_calls }, 'tool_calls'), '[DONE]');
      expect(message.content[0]).to.deep.include({ id: 'a', name: 'add', input: { x: 1 } });
    }
  });

  it('are two where they have neither index nor id, or the id "null"', async () => {
    const namesOf = async (...parts: readonly (CallPart | readonly CallPart[])[]) =>
      (await callsOf(...parts)).map((each) => (each as unknown[]).slice(1));
    for (const id of [undefined, null, 'null', ''] as const) {
      const own = id === undefined ? {} : { id };
      const now = { ...own, name: 'now' };
      expect(await namesOf([now, now])).to.deep.equal([
        ['now', {}],
        ['now', {}],
      ]);
      expect(
        await namesOf({ ...own, name: 'add', args: '{"x":1}' }, { ...own, name: 'sub', args: '{"x":2}' }),
      ).to.deep.equal([
        ['add', { x: 1 }],
        ['sub', { x: 2 }],
      ]);
      expect(
        await namesOf(
          { ...own, name: 'now', args: '' },
          { ...own, name: 'add', args: '{"x"' },
          { args: ':1}' },
        ),
      ).to.deep.equal([
        ['now', {}],
        ['add', { x: 1 }],
      ]);
    }
  });

  it('are refused where a second one on the same index has arguments and no name', () => {
    const first = call({ index: 0, id: 'a', name: 'add', args: '{"x":1}' });
    for (const second of [
      { index: 0, id: 'b', args: '{"x":2}' },
      { index: 0, args: '{"x":2}' },
    ])
      expect(() =>
        eventsOf(
          chunk({ tool_calls: [first] }),
          chunk({ tool_calls: [call(second)] }, 'tool_calls'),
          '[DONE]',
        ),
      ).to.throw(/without a name/);
  });

  it('may repeat their arguments at their end', async () => {
    expect(
      await callsOf({ index: 0, id: 'a', name: 'add', args: '{"x":1}' }, { index: 0, args: '{"x":1}' }),
    ).to.deep.equal([['a', 'add', { x: 1 }]]);
  });

  it('may have their name after their arguments', async () => {
    expect(await callsOf({ index: 0, id: 'a', args: '{"x":1}' }, { index: 0, name: 'add' })).to.deep.equal([
      ['a', 'add', { x: 1 }],
    ]);
  });

  it('come after the text before them, and before the text within them', async () => {
    const { message } = await translate(
      chunk({ content: 'First. ' }),
      chunk({ tool_calls: [call({ index: 0, id: 'a', name: 'add', args: '{"x"' })] }),
      chunk({ content: 'Wi' }),
      chunk({ content: 'thin.' }),
      chunk({ tool_calls: [call({ index: 0, args: ':1}' })] }),
      chunk({ content: 'After.' }, 'tool_calls'),
      '[DONE]',
    );
    const blocks = message.content.map((block) => block['text'] ?? block['input']);
    expect(blocks).to.deep.equal(['First. ', { x: 1 }, 'Within.After.']);
  });

  it('are bounded', () => {
    const many = Array.from({ length: 300 }, (_, at) =>
      call({ index: at, id: `c${at}`, name: 'add', args: '{}' }),
    );
    expect(() => eventsOf(chunk({ tool_calls: many }))).to.throw(/more than 256 tool calls/);
    const held = Array.from({ length: 20 }, () =>
      chunk({ tool_calls: [call({ index: 1, args: 'x'.repeat(1e6) })] }),
    );
    const open = [
      call({ index: 0, id: 'a', name: 'add', args: '{' }),
      call({ index: 1, id: 'b', name: 'add', args: '' }),
    ];
    expect(() => eventsOf(chunk({ tool_calls: open }), ...held)).to.throw(/too many tool calls at once/);
  });

  it('need a name', () => {
    expect(() =>
      eventsOf(chunk({ tool_calls: [call({ index: 0, id: 'a', args: '{}' })] }, 'stop'), '[DONE]'),
    ).to.throw(/without a name/);
  });
});
