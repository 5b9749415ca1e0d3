import { expect } from 'chai';
import type { Usage } from '@gw2api/gateway/plugin';
import type { SimulatorOptions } from '#plugins/upstreams/simulator/server.js';
import { ask, eventsIn, slotAt, stages, startGateway, startPair, type Pair } from '../../harness.js';
import { requestLines } from '../../kit.js';
import { scripted } from '../../scripted-upstream.js';

const persona = 'You are the assistant of a house with many rules. '.repeat(20);
const tools = [{ name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: {} } }];
const own = ask('How many rooms?', { system: 'Be brief.', tools, tool_choice: { type: 'auto' } });
const chatOwn = { model: 'sonnet-5', messages: [{ role: 'user', content: 'How many rooms?' }] };

describe('usage of a request to which the gateway has added', () => {
  let pair: Pair;
  afterEach(() => pair?.close());

  /** A gateway that adds a persona and a web_search tool, whose weight it knows by now. */
  async function start(options: object = {}, config: object = {}, simulatorOptions: SimulatorOptions = {}) {
    const pipeline = stages({ with: { 'persona-inject': { text: persona, ...options } } });
    pair = await startPair({ pipeline, ...config }, simulatorOptions);
    await weighed(() => pair.post('/v1/messages', own));
  }

  /** The call, and the three counts beside it that weigh what the gateway adds. */
  async function weighed(call: () => Promise<Response>): Promise<void> {
    const isCount = ({ path }: { path: string }) => path.endsWith('/count_tokens');
    await (await call()).text();
    while (pair.simulator.requests.filter(isCount).length < 3)
      await new Promise((resolve) => setImmediate(resolve));
    await Promise.all(pair.simulator.requests.filter(isCount).map(({ closed }) => closed));
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  async function usage(body: object, headers?: Readonly<Record<string, string>>): Promise<Usage> {
    const response = await pair.post('/v1/messages', body, headers);
    return ((await response.json()) as { usage: Usage }).usage;
  }

  /** What the caller's own request costs where nothing is added. */
  async function plainUsage(body: object): Promise<Usage> {
    const response = await fetch(`${pair.simulator.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'k', 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify(body),
    });
    return ((await response.json()) as { usage: Usage }).usage;
  }

  /** The usage of each event that has one. */
  async function streamedUsage(body: object): Promise<readonly Usage[]> {
    const text = await (await pair.post('/v1/messages', { ...body, stream: true })).text();
    type Reporting = { usage?: Usage; message?: { usage?: Usage } };
    const reports = (eventsIn(text) as Reporting[]).map(({ usage, message }) => usage ?? message?.usage);
    return reports.filter((report) => report !== undefined);
  }

  it('is that of the caller’s own prompt and tools, to the token', async () => {
    await start();
    expect(await usage(own)).to.deep.equal(await plainUsage(own));
  });

  it('is the same in a stream, in both of its reports', async () => {
    await start();
    const plain = await plainUsage(own);
    const [start1, end] = await streamedUsage(own);
    expect(start1).to.include({ input_tokens: plain.input_tokens });
    expect(end).to.include({ input_tokens: plain.input_tokens, output_tokens: plain.output_tokens });
  });

  it('is the same in every format, streamed and whole', async () => {
    await start();
    const plain = await plainUsage(ask('How many rooms?'));
    const count = plain.input_tokens!;
    const options = { stream: true, stream_options: { include_usage: true } };
    type Counted = { usage?: { prompt_tokens?: number; input_tokens?: number } };
    for (const [path, body] of [
      ['/v1/chat/completions', chatOwn],
      ['/v1/responses', { model: 'sonnet-5', input: 'How many rooms?' }],
      ['/v1/completions', { model: 'sonnet-5', prompt: 'How many rooms?' }],
    ] as const) {
      const whole = (await (await pair.post(path, body)).json()) as Counted;
      expect(whole.usage!.prompt_tokens ?? whole.usage!.input_tokens, path).to.equal(count);
      const text = await (await pair.post(path, { ...body, ...options })).text();
      const events = eventsIn(text).filter((event) => event !== '[DONE]') as (Counted & {
        response?: Counted;
      })[];
      const last = events.findLast((event) => event.usage ?? event.response?.usage)!;
      const counted = last.usage ?? last.response?.usage;
      expect(counted?.prompt_tokens ?? counted?.input_tokens, path).to.equal(count);
    }
  });

  it('is taken from where the tokens were counted: written to the cache first, read from it then', async () => {
    await start({ cache: true });
    const bare = ask('How many rooms?');
    const plain = await plainUsage(bare);
    for (const counted of ['cache_write', 'cache_read']) {
      const shown = await usage(bare);
      const { tokens, masked } = (await requestLines(pair)).at(-1) as unknown as Record<
        'tokens' | 'masked',
        Readonly<Record<string, number>>
      >;
      expect(tokens[counted]).to.be.greaterThan(200);
      expect(masked).to.include({ [counted]: tokens[counted], input: 0 });
      expect(shown).to.include({ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 });
      expect(shown).to.include({ input_tokens: plain.input_tokens });
    }
  });

  it('keeps what of the cache is the caller’s', async () => {
    await start();
    const system = [
      { type: 'text', text: 'Rules. '.repeat(300), cache_control: { type: 'ephemeral', ttl: '1h' } },
    ];
    const cached = { ...own, system };
    for (const field of ['cache_creation_input_tokens', 'cache_read_input_tokens'] as const) {
      const [shown, plain] = [await usage(cached), await plainUsage(cached)];
      expect(shown[field]).to.be.greaterThan(400);
      expect(shown).to.deep.equal(plain);
    }
  });

  it('is never below zero, and its output never changes', async () => {
    await start();
    const upstream = await scripted((request, response, { start, text, end, stop }) => {
      if (!request.url?.endsWith('/messages')) return void response.writeHead(404).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(start + text('Hi') + end + stop);
    });
    const pipeline = stages({ with: { 'persona-inject': { text: persona } } });
    const under = await startGateway({ pipeline, slots: [slotAt(upstream.url)] });
    const message = (await (await under.post('/v1/messages', own)).json()) as { usage: Usage };
    await under.close();
    await upstream.close();
    expect(message.usage).to.deep.equal({ input_tokens: 0, output_tokens: 5 });
  });

  it('is masked by an estimate where the upstream cannot count', async () => {
    const pipeline = stages({ with: { 'persona-inject': { text: persona } } });
    pair = await startPair({ pipeline }, { countTokens: false });
    const [shown, plain] = [await usage(own), await plainUsage(own)];
    expect(Math.abs(shown.input_tokens! - plain.input_tokens!)).to.be.below(10);
  });

  it('is what the first call shows already, as near as an estimate comes', async () => {
    const pipeline = stages({ with: { 'persona-inject': { text: persona } } });
    pair = await startPair({ pipeline });
    const [shown, plain] = [await usage(own), await plainUsage(own)];
    expect(Math.abs(shown.input_tokens! - plain.input_tokens!)).to.be.below(10);
  });

  it('weighs what it adds once for each text and model', async () => {
    await start();
    for (let at = 0; at < 5; at += 1) await usage(own);
    expect(pair.simulator.requests.filter(({ path }) => path.endsWith('/count_tokens'))).to.have.length(3);
  });

  it('is not masked for the official client, and only for it', async () => {
    await start({}, { officialClient: { userAgent: '^vendor-cli/' } });
    const plain = (await plainUsage(own)).input_tokens!;
    const official = await usage(own, { 'user-agent': 'vendor-cli/2.1.0 (external)' });
    expect(official.input_tokens).to.be.greaterThan(plain + 200);
    expect((await usage(own, { 'user-agent': 'not-vendor-cli/1' })).input_tokens).to.equal(plain);
    const text = await (
      await pair.post('/v1/messages', { ...own, stream: true }, { 'user-agent': 'vendor-cli/2.1.0' })
    ).text();
    const [{ message }] = eventsIn(text) as [{ message: { usage: Usage } }];
    expect(message.usage.input_tokens).to.equal(official.input_tokens);
  });

  it('has no official client unless the operator names one', async () => {
    await start();
    const plain = (await plainUsage(own)).input_tokens;
    for (const agent of ['claude-cli/2.0.1', 'vendor-cli/1', ''])
      expect((await usage(own, { 'user-agent': agent })).input_tokens).to.equal(plain);
  });

  it('is not touched where nothing was added', async () => {
    pair = await startPair({ pipeline: stages({ without: ['persona-inject', 'web-search-tool'] }) });
    expect(await usage(own)).to.deep.equal(await plainUsage(own));
    expect(pair.simulator.requests.some(({ path }) => path.endsWith('/count_tokens'))).to.equal(false);
    const [line] = await requestLines(pair);
    expect(line).not.to.have.property('masked');
  });

  it('is in the log with both numbers', async () => {
    await start();
    const { input_tokens: shown } = await usage(own);
    const { tokens, masked } = (await requestLines(pair)).at(-1) as unknown as Record<
      'tokens' | 'masked',
      { input: number; output: number }
    >;
    expect(tokens.input - masked.input).to.equal(shown);
    expect(masked.output).to.equal(0);
  });
});
