import { expect } from 'chai';
import { slotAt, startGateway, type GatewayUnderTest } from '../harness.js';
import { startOpenaiServer, type OpenaiServer } from '../slots/upstreams/openai-server.js';

type Fields = Readonly<Record<string, unknown>>;

interface Sent {
  readonly role: string;
  readonly tool_calls?: readonly { readonly id: string; readonly extra_content?: unknown }[];
}

const signed = (thought_signature: string) => ({ extra_content: { google: { thought_signature } } });
const call = (index: number, id: string, extra: object = {}) => ({
  index,
  id,
  type: 'function',
  function: { name: 'look', arguments: `{"at":${index}}` },
  ...extra,
});
const skipped = signed('skip_thought_signature_validator').extra_content;
const question = { role: 'user', content: 'Look twice.' };
const parameters = { type: 'object', properties: { at: { type: 'integer' } } };

describe('a slot of the preset google', () => {
  let server: OpenaiServer;
  let gateway: GatewayUnderTest;

  before(async () => {
    server = await startOpenaiServer();
    gateway = await startGateway({
      slots: [slotAt(server.url, { upstream: 'chat', with: { preset: 'google' } })],
    });
  });
  after(async () => {
    await gateway.close();
    await server.close();
  });
  beforeEach(() => {
    server.answer = {
      deltas: [{ tool_calls: [call(0, 'c0', signed('c2lnbmVk'))] }, { tool_calls: [call(1, 'c1')] }],
      finish: 'tool_calls',
    };
  });

  async function ask(path: string, body: object): Promise<Response> {
    const response = await gateway.post(path, { model: 'sonnet-5', ...body });
    expect(response.status).to.equal(200);
    return response;
  }

  /** What the calls of the history have beside themselves, in the last body. */
  function sentExtras(): readonly unknown[] {
    const messages = (server.bodies.at(-1)?.['messages'] ?? []) as readonly Sent[];
    return messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ extra_content: extra }) => extra));
  }

  const both = [signed('c2lnbmVk').extra_content, undefined];

  for (const stream of [false, true]) {
    const how = stream ? 'streamed' : 'whole';

    it(`gives Chat callers the signature with its call, and takes it back: ${how}`, async () => {
      const tools = [{ type: 'function', function: { name: 'look', parameters } }];
      const answer = await ask('/v1/chat/completions', { messages: [question], tools, stream });
      const calls = stream ? streamedCalls(await answer.text()) : wholeCalls(await answer.json());
      expect(calls.map(({ extra_content: extra }) => extra)).to.deep.equal(both);
      const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'a' }));
      const messages = [question, { role: 'assistant', content: null, tool_calls: calls }, ...results];
      await ask('/v1/chat/completions', { messages, tools });
      expect(sentExtras()).to.deep.equal(both);
    });

    it(`gives Messages callers the signature as a thinking block before its call: ${how}`, async () => {
      const tools = [{ name: 'look', input_schema: parameters }];
      const asked = { max_tokens: 99, tools };
      const answer = await ask('/v1/messages', { ...asked, messages: [question], stream });
      const content = stream ? streamedBlocks(await answer.text()) : wholeBlocks(await answer.json());
      expect(content.map(({ type }) => type)).to.deep.equal(['thinking', 'tool_use', 'tool_use']);
      const ids = content.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []));
      const results = ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'a' }));
      const messages = [question, { role: 'assistant', content }, { role: 'user', content: results }];
      await ask('/v1/messages', { ...asked, messages });
      expect(sentExtras()).to.deep.equal(both);
    });

    it(`gives Responses callers the signature as a reasoning item: ${how}`, async () => {
      const tools = [{ type: 'function', name: 'look', parameters }];
      const asked = { tools, store: false, include: ['reasoning.encrypted_content'] };
      const answer = await ask('/v1/responses', { ...asked, input: [question], stream });
      const output = stream ? streamedItems(await answer.text()) : wholeItems(await answer.json());
      expect(output.map(({ type }) => type)).to.deep.equal(['reasoning', 'function_call', 'function_call']);
      const ids = output.flatMap(({ type, call_id: id }) => (type === 'function_call' ? [id] : []));
      const results = ids.map((id) => ({ type: 'function_call_output', call_id: id, output: 'a' }));
      await ask('/v1/responses', { ...asked, input: [question, ...output, ...results] });
      expect(sentExtras()).to.deep.equal(both);
    });
  }

  it('gets a stand-in for the first call of a turn whose signature nobody knows', async () => {
    const turn = (id: string, extra?: object) => [
      { role: 'assistant', content: null, tool_calls: [call(0, id), call(1, `${id}x`, extra)] },
      { role: 'tool', tool_call_id: id, content: 'a' },
      { role: 'tool', tool_call_id: `${id}x`, content: 'a' },
    ];
    const messages = [question, ...turn('a'), ...turn('b', signed('bGF0ZQ=='))];
    await ask('/v1/chat/completions', { messages });
    const late = signed('bGF0ZQ==').extra_content;
    expect(sentExtras()).to.deep.equal([skipped, undefined, skipped, late]);
  });

  it('keeps the signatures to itself: other servers are not sent them, which is reported', async () => {
    server.answer = { deltas: [{ content: 'Blue.' }] };
    const messages = [
      question,
      { role: 'assistant', content: null, tool_calls: [call(0, 'a', signed('c2lnbmVk'))] },
      { role: 'tool', tool_call_id: 'a', content: 'a' },
    ];
    const openai = { upstream: 'chat', with: { preset: 'openai' } };
    for (const slot of [openai, { upstream: 'responses' }]) {
      const other = await startGateway({ slots: [slotAt(server.url, slot)] });
      try {
        const response = await other.post('/v1/chat/completions', { model: 'sonnet-5', messages });
        expect(response.headers.get('x-gw-dropped')).to.equal('messages[1].tool_calls[0].extra_content');
        expect(JSON.stringify(server.bodies.at(-1))).to.not.match(
          /extra_content|c2lnbmVk|skip_thought|gw2api/,
        );
      } finally {
        await other.close();
      }
    }
  });
});

interface Call {
  readonly index?: number;
  readonly id: string;
  readonly function: { readonly arguments: string };
  readonly extra_content?: unknown;
}

const dataIn = (sse: string) =>
  sse
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Fields);

function streamedCalls(sse: string): readonly Call[] {
  const calls: Record<string, unknown>[] = [];
  for (const { choices } of dataIn(sse) as readonly {
    choices?: readonly { delta: { tool_calls?: readonly Call[] } }[];
  }[])
    for (const { index = 0, function: called, ...rest } of choices?.[0]?.delta.tool_calls ?? []) {
      const known = calls[index] as Call | undefined;
      const json = (known?.function.arguments ?? '') + called.arguments;
      calls[index] = { ...known, ...rest, function: { ...known?.function, ...called, arguments: json } };
    }
  return calls as unknown as readonly Call[];
}

function wholeCalls(body: unknown): readonly Call[] {
  return (body as { choices: readonly { message: { tool_calls: readonly Call[] } }[] }).choices[0]!.message
    .tool_calls;
}

/** Blocks of a Messages stream, with the signatures of thinking and the inputs of calls. */
function streamedBlocks(sse: string): readonly Fields[] {
  const blocks: Record<string, unknown>[] = [];
  for (const { type, index, content_block: block, delta } of dataIn(sse)) {
    const at = Number(index);
    if (type === 'content_block_start') blocks[at] = { ...(block as Fields) };
    const { signature, partial_json: json } = (delta ?? {}) as { signature?: string; partial_json?: string };
    if (signature) blocks[at]!['signature'] = signature;
    if (json) blocks[at]!['input'] = JSON.parse(json);
  }
  return blocks;
}

function wholeBlocks(body: unknown): readonly Fields[] {
  return (body as { content: readonly Fields[] }).content;
}

function streamedItems(sse: string): readonly Fields[] {
  return dataIn(sse).flatMap(({ type, item }) =>
    type === 'response.output_item.done' ? [item as Fields] : [],
  );
}

function wholeItems(body: unknown): readonly Fields[] {
  return (body as { output: readonly Fields[] }).output;
}
