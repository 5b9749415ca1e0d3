import { expect } from 'chai';
import { eventsIn, masterKey, startGateway, stages, type GatewayUnderTest } from '../../harness.js';
import { startReplay, type Received, type Replay } from '../recorded/replay.js';

type Fields = Readonly<Record<string, unknown>>;

const logprobsFor = (token: string): Fields => ({
  token,
  logprob: -0.5,
  bytes: [...Buffer.from(token)],
  top_logprobs: [{ token: 'Yo', logprob: -1.5, bytes: [89, 111] }],
});
const [first, second, third] = [logprobsFor('Hi'), logprobsFor(' jo'), logprobsFor('!')];
const tokens = [first, second, third];

const chunk = (delta: Fields, content: readonly Fields[] | null, reason: string | null = null): string => {
  const choice = { index: 0, delta, finish_reason: reason, logprobs: content && { content, refusal: null } };
  const fields = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
  return `data: ${JSON.stringify({ ...fields, choices: [choice] })}\n\n`;
};

/** A token without a text of its own waits for the next. */
const chatPieces = [
  chunk({ role: 'assistant', content: 'Hi' }, [first]),
  chunk({ content: '' }, [second]),
  chunk({ content: ' jo!' }, [third]),
  chunk({}, null, 'stop'),
  'data: [DONE]\n\n',
];

const part = { type: 'output_text', text: 'Hi jo!', annotations: [], logprobs: tokens };
const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [part] };
const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const response = { id: 'resp_1', object: 'response', model: 'm' };

const responsesPieces = [
  { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
  { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
  { type: 'response.output_text.delta', ...at, delta: 'Hi jo!', logprobs: tokens },
  { type: 'response.output_item.done', output_index: 0, item },
  { type: 'response.completed', response: { ...response, status: 'completed', output: [item] } },
].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

describe('log probabilities', () => {
  let upstream: Replay;
  const gateways: GatewayUnderTest[] = [];
  before(async () => {
    upstream = await startReplay(({ path }) => ({
      pieces: path.endsWith('/responses') ? responsesPieces : chatPieces,
    }));
  });
  after(() => upstream.close());
  afterEach(async () => {
    for (const gateway of gateways.splice(0)) await gateway.close();
  });

  async function ask(
    route: string,
    body: object,
    {
      kind = 'chat',
      pipeline = stages(),
    }: { kind?: 'chat' | 'responses'; pipeline?: readonly object[] } = {},
  ): Promise<{ readonly text: string; readonly sent: Received['body']; readonly dropped: string | null }> {
    const slot = {
      id: 'a',
      upstream: kind,
      baseUrl: `${upstream.url}/v1`,
      account: { kind: 'api-key', key: masterKey },
      ...(kind === 'chat' && { with: { preset: 'openai' } }),
    };
    const gateway = await startGateway({ slots: [slot], pipeline });
    gateways.push(gateway);
    const answer = await gateway.post(route, { model: 'gpt', ...body });
    const text = await answer.text();
    return { text, sent: upstream.received.at(-1)!.body, dropped: answer.headers.get('x-gw-dropped') };
  }

  const chat = { messages: [{ role: 'user', content: 'Hello' }], logprobs: true, top_logprobs: 1 };
  const responses = { input: 'Hello', include: ['message.output_text.logprobs'], top_logprobs: 1 };
  const logprobsOf = (choice: unknown) => (choice as Fields)['logprobs'];

  it('come back to a Chat caller, streamed and whole', async () => {
    const { text, sent, dropped } = await ask('/v1/chat/completions', { ...chat, stream: true });
    expect(sent).to.include({ logprobs: true, top_logprobs: 1 });
    expect(dropped).to.equal(null);
    const chunks = eventsIn(text).filter((event) => event !== '[DONE]') as { choices: Fields[] }[];
    const given = chunks.flatMap(({ choices }) => choices.map(logprobsOf)).filter((each) => each !== null);
    expect(given).to.deep.equal([
      { content: [first], refusal: null },
      { content: [second, third], refusal: null },
    ]);
    const whole = JSON.parse((await ask('/v1/chat/completions', chat)).text) as { choices: Fields[] };
    expect(logprobsOf(whole.choices[0])).to.deep.equal({ content: tokens, refusal: null });
  });

  it('come back to a Responses caller, streamed and whole', async () => {
    const { text, sent, dropped } = await ask('/v1/responses', { ...responses, stream: true });
    expect(sent).to.include({ logprobs: true, top_logprobs: 1 });
    expect(dropped).to.equal(null);
    const events = eventsIn(text).filter((event) => event !== '[DONE]') as Fields[];
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta');
    expect(deltas.map(logprobsOf)).to.deep.equal([[first], [second, third]]);
    const done = events.find(({ type }) => type === 'response.output_text.done');
    expect(logprobsOf(done)).to.deep.equal(tokens);
    const whole = JSON.parse((await ask('/v1/responses', responses)).text) as {
      output: { content: Fields[] }[];
    };
    expect(logprobsOf(whole.output[0]?.content[0])).to.deep.equal(tokens);
  });

  it('come from a Responses upstream, too', async () => {
    const { text, sent } = await ask('/v1/chat/completions', chat, { kind: 'responses' });
    expect(sent['include']).to.include('message.output_text.logprobs');
    expect(sent).to.include({ top_logprobs: 1 }).and.not.have.property('logprobs');
    const whole = JSON.parse(text) as { choices: Fields[] };
    expect(logprobsOf(whole.choices[0])).to.deep.equal({ content: tokens, refusal: null });
  });

  it('are dropped by a stage that maps the text of the answer', async () => {
    const [auth, limit, decode, ...rest] = stages();
    const pipeline = [auth!, limit!, decode!, { use: 'redact' }, ...rest];
    const messages = [{ role: 'user', content: 'Write to jo@example.com' }];
    const { text } = await ask('/v1/chat/completions', { ...chat, messages }, { pipeline });
    const whole = JSON.parse(text) as { choices: Fields[] };
    expect(whole.choices[0]).to.have.nested.property('message.content', 'Hi jo!');
    expect(logprobsOf(whole.choices[0])).to.equal(null);
  });

  it('that nobody asked for are not passed on', async () => {
    const { messages } = chat;
    const { text } = await ask('/v1/chat/completions', { messages });
    expect(logprobsOf((JSON.parse(text) as { choices: Fields[] }).choices[0])).to.equal(null);
  });
});
