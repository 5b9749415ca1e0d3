import { expect } from 'chai';
import { eventsIn } from '../harness.js';
import {
  chatStream,
  messagesStream,
  responsesStream,
  short,
  startKinds,
  type Sent,
  type SlotKinds,
} from '../slots/upstreams/slot-kinds.js';

const patch = '*** Begin Patch\n*** Update File: a.ts\n+"quoted" \\ 1\n*** End Patch\n';
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };

/** Tools as Cursor sends them: flat, some with the schema of Messages, and a custom one. */
const tools = [
  { type: 'function', name: 'read_file', description: 'Reads.', parameters: schema, strict: false },
  { name: 'list_dir', description: 'Lists.', input_schema: schema },
  { type: 'custom', name: 'ApplyPatch', description: 'Edits.', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
]; // prettier-ignore

/** Streams in which the model calls the custom tool. */
function patchCall({ url }: Sent): string {
  const json = JSON.stringify({ input: patch });
  const [half, rest] = [json.slice(0, 20), json.slice(20)];
  const name = 'ApplyPatch';
  if (url.includes('/responses'))
    return responsesStream([{ type: 'function_call', id: 'fc_1', call_id: 'call_p', name, arguments: json, status: 'completed' }]);
  if (!url.includes('/chat')) {
    const deltas = [half, rest].map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    return messagesStream([{ start: { type: 'tool_use', id: 'call_p', name, input: {} }, deltas }], 'tool_use');
  }
  const call = (more: object) => ({ tool_calls: [{ index: 0, ...more }] });
  const begin = call({ id: 'call_p', type: 'function', function: { name, arguments: half } });
  return chatStream([begin, call({ function: { arguments: rest } })], 'tool_calls');
} // prettier-ignore

/** A history in the shapes of Messages and Chat at once, with the call of the custom tool as it was answered. */
const history = [
  { role: 'system', content: 'You are a coding assistant.' },
  { role: 'user', content: [
    { type: 'text', text: 'Fix a.ts.' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
  ] },
  { role: 'assistant', content: [
    { type: 'thinking', thinking: 'It lists first.', signature: 'c2ln' },
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', id: 'toolu_1', name: 'list_dir', input: { path: '.' } },
  ] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'a.ts' }] }] },
  { role: 'assistant', content: null, tool_calls: [
    { id: 'call_p', type: 'function', function: { name: 'ApplyPatch', arguments: patch } },
    { id: 'call_r', type: 'function', function: { name: 'read_file', arguments: '{"path":"a.ts"}' } },
  ] },
  { role: 'tool', tool_call_id: 'call_p', content: 'Done.' },
  { role: 'tool', tool_call_id: 'call_r', content: [{ type: 'text', text: 'let a;' }] },
]; // prettier-ignore

interface Chunk {
  readonly choices: readonly {
    readonly delta: { readonly content?: string; readonly tool_calls?: readonly { readonly function: { readonly arguments: string } }[] };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: object | null;
} // prettier-ignore

describe('a session of Cursor', () => {
  let kinds: SlotKinds;
  before(async () => void (kinds = await startKinds()));
  after(() => kinds.close());

  async function chunksOf(slot: string, conversation: object): Promise<readonly Chunk[]> {
    const asked = { model: 'sonnet-5', stream: true, stream_options: { include_usage: true }, tools };
    const response = await kinds.ask(slot, '/v1/chat/completions', {
      ...asked,
      tool_choice: { type: 'auto' },
      ...conversation,
    });
    const text = await response.text();
    expect(response.status, text).to.equal(200);
    expect(text.trimEnd().endsWith('data: [DONE]')).to.equal(true);
    return eventsIn(text).filter((event): event is Chunk => typeof event === 'object');
  }

  for (const slot of ['generic', 'responses', 'messages'])
    for (const field of ['messages', 'input'])
      it(`goes on over several turns, its history in ${field}, over a ${slot} slot`, async () => {
        kinds.play(patchCall);
        const first = history.slice(0, 2);
        const called = await chunksOf(slot, { [field]: first });
        const calls = called.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []));
        expect(calls[0]).to.deep.include({ id: 'call_p', type: 'function' });
        expect(calls.map((call) => call.function.arguments).join('')).to.equal(patch);
        expect(called.at(-1)?.usage).to.be.an('object');
        expect(called.flatMap(({ choices }) => choices).at(-1)?.finish_reason).to.equal('tool_calls');

        kinds.play((sent) => short(sent, 'Fixed.'));
        const said = await chunksOf(slot, { [field]: history });
        expect(said.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? '')).join('')).to.equal('Fixed.');
        const sent = kinds.sent.at(-1)!.text;
        const inArguments = JSON.stringify(JSON.stringify({ input: patch })).slice(1, -1);
        const inInput = JSON.stringify({ input: patch });
        expect(sent).to.include(slot === 'messages' ? inInput : inArguments);
        for (const part of ['Fix a.ts.', 'I look.', 'toolu_1', 'let a;', 'You are a coding assistant.']) expect(sent).to.include(part);
        expect(sent.match(new RegExp(png.replaceAll('+', '\\+'), 'g'))).to.have.length(2);
        if (slot === 'messages') expect(sent).to.include('"signature":"c2ln"');
      }); // prettier-ignore

  it('has the results of tools that failed as such', async () => {
    const failed = {
      type: 'tool_result',
      tool_use_id: 'toolu_1',
      content: 'No such folder.',
      is_error: true,
    };
    const input = [
      ...history.slice(1, 3),
      { role: 'user', content: [failed, { type: 'text', text: 'Again.' }] },
    ];
    await chunksOf('messages', { input });
    expect(kinds.sent.at(-1)!.text)
      .to.include('"content":"No such folder.","is_error":true')
      .and.include('Again.');
  });

  it('is told of errors and losses by its own paths', async () => {
    const bad = { role: 'assistant', content: 'x', tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '[1]' } }] };
    const ask = (body: object) => kinds.ask('messages', '/v1/chat/completions', { model: 'sonnet-5', ...body });
    const refused = await ask({ input: [...history, bad] });
    expect([refused.status, await refused.text()]).to.deep.include(400).and.satisfy(([, text]: string[]) => text!.includes('"input[7]: must be'));
    const named = await ask({ input: 'x', tools: [{ type: 'function', function: { name: 'f', parameters: 7 } }] });
    expect(await named.text()).to.include('tools[0].function.parameters: must be');
    const limited = await ask({ input: 'x', max_tokens: 'many' });
    expect(await limited.text()).to.include('max_tokens: must be');
  }); // prettier-ignore
});
