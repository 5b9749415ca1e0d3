import { expect } from 'chai';
import { ask, eventsIn, slotAt, stages, startGateway, startPair, type Pair } from '../../harness.js';
import { callsTo, lastCall } from '../../kit.js';
import { scripted } from '../../scripted-upstream.js';

const look = { name: 'look', input_schema: { type: 'object', properties: {} } };
const search = { type: 'web_search_20250305', name: 'web_search' };

describe('the web_search tool', () => {
  let pair: Pair;
  before(async () => void (pair = await startPair()));
  after(() => pair.close());

  async function toolsOf(fields: object, headers: Readonly<Record<string, string>> = {}) {
    const response = await pair.post('/v1/messages', ask('Hello!', fields), headers);
    expect(response.status, await response.clone().text()).to.equal(200);
    return lastCall(pair.simulator)['tools'];
  }

  it('is added behind the caller’s own', async () => {
    expect(await toolsOf({})).to.deep.equal([search]);
    expect(await toolsOf({ tools: [look] })).to.deep.equal([look, search]);
    expect(await toolsOf({ tools: [look], tool_choice: { type: 'auto' } })).to.deep.equal([look, search]);
  });

  for (const [what, fields, expected] of [
    [
      'the caller has a tool of that name',
      { tools: [{ name: 'web_search', input_schema: { type: 'object' } }] },
      [{ name: 'web_search', input_schema: { type: 'object' } }],
    ],
    [
      'the caller has the tool itself',
      { tools: [{ type: 'web_search_20260209', name: 'web_search' }] },
      [{ type: 'web_search_20260209', name: 'web_search' }],
    ],
    ['tool_choice is any', { tools: [look], tool_choice: { type: 'any' } }, [look]],
  ] as const)
    it(`is not added where ${what}`, async () => {
      expect(await toolsOf(fields)).to.deep.equal(expected);
    });

  it('stays where tool_choice is none or names a tool, since a prompt cache is lost where tools come and go', async () => {
    for (const tool_choice of [{ type: 'none' }, { type: 'tool', name: 'look' }])
      expect(await toolsOf({ tools: [look], tool_choice }), tool_choice.type).to.deep.equal([look, search]);
  });

  it('is not added with x-gw-web-search: false, in no format', async () => {
    const header = { 'x-gw-web-search': 'false' };
    expect(await toolsOf({}, header)).to.equal(undefined);
    for (const [path, body] of [
      ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello!' }] }],
      ['/v1/responses', { input: 'Hello!' }],
      ['/v1/completions', { prompt: 'Hello!' }],
    ] as const) {
      await pair.post(path, { model: 'sonnet-5', ...body }, header);
      expect(lastCall(pair.simulator)).not.to.have.property('tools');
      await pair.post(path, { model: 'sonnet-5', ...body });
      expect(lastCall(pair.simulator)['tools']).to.deep.equal([search]);
    }
  });

  it('has the kind and the number of uses that the operator says', async () => {
    const options = { 'web-search-tool': { type: 'web_search_20260209', maxUses: 3 } };
    const other = await startPair({ pipeline: stages({ with: options }) });
    await other.post('/v1/messages', ask('Hello!'));
    expect(lastCall(other.simulator)['tools']).to.deep.equal([
      { type: 'web_search_20260209', name: 'web_search', max_uses: 3 },
    ]);
    await other.close();
  });

  describe('in a turn that it pauses', () => {
    const chat = (text: string, fields: object = {}) => ({
      model: 'sonnet-5',
      messages: [{ role: 'user', content: text }],
      ...fields,
    });

    it('leaves pause_turn to Messages callers', async () => {
      const calls = callsTo(pair.simulator).length;
      const response = await pair.post('/v1/messages', ask('[[sim:pause]]'));
      expect(await response.json()).to.have.property('stop_reason', 'pause_turn');
      expect(callsTo(pair.simulator)).to.have.length(calls + 1);
    });

    for (const stream of [true, false])
      it(`goes on for the callers of the other formats (stream: ${stream})`, async () => {
        const calls = callsTo(pair.simulator).length;
        const response = await pair.post(
          '/v1/chat/completions',
          chat('[[sim:pause n=2]] Search!', { stream }),
        );
        const text = await response.text();
        expect(text).to.include('"finish_reason":"stop"');
        expect(callsTo(pair.simulator)).to.have.length(calls + 3);
        if (stream) expect(eventsIn(text).at(-1)).to.equal('[DONE]');
        const last = lastCall(pair.simulator)['messages'] as readonly { role: string }[];
        expect(last.at(-1)).to.have.property('role', 'assistant');
      });

    it('goes on four times at most, and the answer is then cut', async () => {
      const calls = callsTo(pair.simulator).length;
      const response = await pair.post('/v1/chat/completions', chat('[[sim:pause n=9]] Search!'));
      expect(response.status).to.equal(200);
      expect(await response.json()).to.have.nested.property('choices[0].finish_reason', 'length');
      expect(callsTo(pair.simulator)).to.have.length(calls + 5);
      const responses = await pair.post('/v1/responses', {
        model: 'sonnet-5',
        input: '[[sim:pause n=9]] Search!',
      });
      const body = await responses.json();
      expect(body).to.include({ status: 'incomplete' });
      expect(body).to.have.nested.property('incomplete_details.reason', 'max_output_tokens');
    });
  });

  describe('added to a request whose answer fails in the middle', () => {
    const broken = {
      'an error':
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Busy."}}\n\n',
      'an event that is not JSON': 'event: content_block_delta\ndata: {"type":\n\n',
      'the end of the connection': '',
    };
    const bodies = {
      '/v1/chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
      '/v1/responses': { input: 'Hi' },
      '/v1/completions': { prompt: 'Hi' },
    };
    const opened =
      'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n';
    for (const [what, end] of Object.entries(broken))
      it(`lets through what came before ${what}, though both come at once`, async () => {
        const upstream = await scripted((_, response, { start, delta }) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.end([start, opened, delta('The answer is '), delta('forty'), end].join(''));
        });
        const broker = await startGateway({ slots: [slotAt(upstream.url)] });
        for (const [path, body] of Object.entries(bodies)) {
          const response = await broker.post(path, { model: 'sonnet-5', stream: true, ...body });
          const text = await response.text();
          expect(text, path).to.include('The answer is ').and.to.include('forty').and.to.include('error');
        }
        await broker.close();
        await upstream.close();
      });
  });

  describe('of a caller, in a turn that it pauses', () => {
    let plain: Pair;
    before(async () => {
      plain = await startPair({ pipeline: stages({ without: ['web-search-tool', 'persona-inject'] }) });
    });
    after(() => plain.close());

    it('is continued for Chat', async () => {
      const response = await plain.post('/v1/chat/completions', {
        model: 'sonnet-5',
        messages: [{ role: 'user', content: '[[sim:pause n=2]] Search!' }],
        web_search_options: {},
      });
      const body = (await response.json()) as { choices: [{ message: object; finish_reason: string }] };
      expect(body.choices[0].finish_reason).to.equal('stop');
      expect(body.choices[0].message).to.have.property('content').that.includes('That is all it can say.');
      expect(callsTo(plain.simulator)).to.have.length(3);
    });

    it('is continued for Responses, its searches too', async () => {
      const response = await plain.post('/v1/responses', {
        model: 'sonnet-5',
        input: '[[sim:pause n=1]] Search!',
        tools: [{ type: 'web_search' }],
      });
      const body = (await response.json()) as { status: string; output: { type: string; status: string }[] };
      expect(body.status).to.equal('completed');
      const items = body.output.map(({ type, status }) => `${type} ${status}`);
      expect(items).to.include('web_search_call completed');
      expect(JSON.stringify(body.output)).to.include('That is all it can say.');
    });
  });
});
