import { expect } from 'chai';
import { ask, stages, startPair, type Pair } from '../../harness.js';
import { lastCall } from '../../kit.js';

/** A block whose marker says `ttl`, or nothing; or a block without a marker. */
function block(text: string, ttl?: string | null): object {
  if (ttl === undefined) return { type: 'text', text };
  return { type: 'text', text, cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } };
}

interface Marked {
  readonly cache_control?: { readonly ttl?: string };
  readonly content?: string | readonly Marked[];
}

/** The ttl of every marker of a request, in the order of its prompt. */
function ttls(body: Readonly<Record<string, unknown>>): readonly (string | undefined)[] {
  const parts = ['tools', 'system', 'messages'].flatMap((name) => body[name] ?? []) as Marked[];
  const of = (part: Marked): (string | undefined)[] => [
    ...(Array.isArray(part.content) ? (part.content as Marked[]).flatMap(of) : []),
    ...(part.cache_control ? [part.cache_control.ttl] : []),
  ];
  return [...parts.flatMap(of), ...of(body)];
}

describe('cache markers', () => {
  let pair: Pair;
  before(async () => void (pair = await startPair()));
  after(() => pair.close());

  async function sent(body: object, headers: Readonly<Record<string, string>> = {}, path = '/v1/messages') {
    const response = await pair.post(path, body, headers);
    expect(response.status, await response.clone().text()).to.equal(200);
    return lastCall(pair.simulator);
  }

  const messages = (...blocks: object[]) => [{ role: 'user', content: blocks }];

  it('without a ttl get one of an hour', async () => {
    const body = ask('', {
      system: [block('s', null)],
      messages: messages(block('a', null), block('b', null)),
    });
    expect(ttls(await sent(body))).to.deep.equal(['1h', '1h', '1h']);
  });

  it('with a ttl keep it', async () => {
    const body = ask('', {
      system: [block('s', '1h')],
      messages: messages(block('a', null), block('b', '5m')),
    });
    expect(ttls(await sent(body))).to.deep.equal(['1h', '1h', '5m']);
  });

  it('after one of five minutes are all of five minutes, as the upstream asks for', async () => {
    const tools = [
      { name: 'look', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral', ttl: '5m' } },
    ];
    const body = ask('', { tools, system: [block('s', null)], messages: messages(block('a', '1h')) });
    expect(ttls(await sent(body))).to.deep.equal(['5m', '5m', '5m']);
  });

  it('are all of five minutes with x-gw-cache-ttl: 5m', async () => {
    const body = ask('', {
      system: [block('s', '1h')],
      messages: messages(block('a', null), block('b', '5m')),
    });
    expect(ttls(await sent(body, { 'x-gw-cache-ttl': '5m' }))).to.deep.equal(['5m', '5m', '5m']);
  });

  it('on the top level count too', async () => {
    const body = ask('Hello!', { cache_control: { type: 'ephemeral' } });
    expect(ttls(await sent(body))).to.deep.equal(['1h']);
    expect(ttls(await sent(body, { 'x-gw-cache-ttl': '5m' }))).to.deep.equal(['5m']);
  });

  it('inside a tool result count too', async () => {
    const body = ask('', {
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'Look!' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [block('seen', null)] }],
        },
      ],
    });
    expect(ttls(await sent(body))).to.deep.equal(['1h']);
  });

  it('are not set for Messages callers, who can do so themselves', async () => {
    expect(ttls(await sent(ask('Hello!')))).to.deep.equal([]);
  });

  const translated: Readonly<Record<string, object>> = {
    '/v1/chat/completions': { model: 'sonnet-5', messages: [{ role: 'user', content: 'Hello!' }] },
    '/v1/responses': { model: 'sonnet-5', input: 'Hello!' },
    '/v1/completions': { model: 'sonnet-5', prompt: 'Hello!' },
  };
  for (const [path, body] of Object.entries(translated)) {
    it(`are set on the last block for callers of ${path}, who cannot`, async () => {
      const request = await sent(body, {}, path);
      expect(ttls(request)).to.deep.equal(['1h']);
      const last = (request['messages'] as { content: Marked[] }[]).at(-1)!.content.at(-1);
      expect(last).to.have.deep.property('cache_control', { type: 'ephemeral', ttl: '1h' });
      expect(ttls(await sent(body, { 'x-gw-cache-ttl': '5m' }, path))).to.deep.equal(['5m']);
    });
  }

  it('make the next turn of a Chat agent read what the first has written', async () => {
    const talk = [{ role: 'user', content: 'A long story. '.repeat(400) }];
    type Answer = { choices: [{ message: { content: string } }]; usage: Counted };
    type Counted = { prompt_tokens_details: { cached_tokens: number } };
    const turn = async (more: readonly object[]) =>
      (await (
        await pair.post('/v1/chat/completions', { model: 'sonnet-5', messages: [...talk, ...more] })
      ).json()) as Answer;
    const first = await turn([]);
    const { content } = first.choices[0].message;
    const second = await turn([
      { role: 'assistant', content },
      { role: 'user', content: 'Go on.' },
    ]);
    expect(first.usage.prompt_tokens_details.cached_tokens).to.equal(0);
    expect(second.usage.prompt_tokens_details.cached_tokens).to.be.greaterThan(1000);
  });

  it('are not set by us with auto: false, and last five minutes with ttl: 5m', async () => {
    const options = { 'cache-ttl': { auto: false, ttl: '5m' } };
    const other = await startPair({ pipeline: stages({ with: options }) });
    await other.post('/v1/chat/completions', translated['/v1/chat/completions']!);
    expect(ttls(lastCall(other.simulator))).to.deep.equal([]);
    await other.post('/v1/messages', ask('', { messages: messages(block('a', null), block('b', '1h')) }));
    expect(ttls(lastCall(other.simulator))).to.deep.equal(['5m', '5m']);
    await other.close();
  });

  it('are four at most, the caller’s first: the persona goes without', async () => {
    const options = { 'persona-inject': { text: 'Be kind.', cache: true } };
    const other = await startPair({ pipeline: stages({ with: options }) });
    const body = (count: number) =>
      ask('', { messages: messages(...Array.from({ length: count }, (_, at) => block(`part ${at}`, null))) });
    for (const [count, all] of [
      [3, 4],
      [4, 4],
    ] as const) {
      expect(await other.post('/v1/messages', body(count))).to.have.property('status', 200);
      const request = lastCall(other.simulator);
      expect(ttls(request)).to.have.length(all);
      const [persona] = request['system'] as Marked[];
      expect(persona!.cache_control !== undefined).to.equal(count === 3);
    }
    const automatic = { ...body(3), cache_control: { type: 'ephemeral' } };
    expect(await other.post('/v1/messages', automatic)).to.have.property('status', 200);
    expect(ttls(lastCall(other.simulator))).to.have.length(4);
    await other.close();
  });
});
