import { expect } from 'chai';
import type { MessagesResponse } from '@gw2api/gateway/plugin';
import { dialects, formatNames, timelessValue } from '../dialects.js';
import { ask, stages, startPair, type Pair } from '../../harness.js';
import { callsTo, issueKey, requestLines } from '../../kit.js';
import { clockAt } from '../../../clock-at.js';

const tools = [{ name: 'find', input_schema: { type: 'object' } }];

/** The default pipeline with a cache above slot-pick. */
function cached(options: object): readonly object[] {
  const all = stages();
  const at = all.findIndex((entry) => (entry as { use: string }).use === 'slot-pick');
  return [...all.slice(0, at), { use: 'response-cache', with: options }, ...all.slice(at)];
}

describe('response-cache', () => {
  let pair: Pair;
  let nowMs = Date.UTC(2026, 0, 1);
  const start = async (options: object = {}): Promise<void> => {
    pair = await startPair({ pipeline: cached(options) }, { clock: clockAt(() => nowMs) });
  };
  afterEach(() => pair.close());

  /** The cache's word on each of these requests, asked one after another. */
  async function results(
    ...requests: readonly (readonly [fields?: object, headers?: Readonly<Record<string, string>>])[]
  ): Promise<readonly (string | null)[]> {
    const found = [];
    for (const [fields, headers] of requests) {
      const response = await pair.post('/v1/messages', ask('Hello!', fields), headers);
      expect(response.status).to.equal(200);
      await response.text();
      found.push(response.headers.get('x-gw-cache'));
    }
    return found;
  }

  for (const format of formatNames)
    for (const stream of [false, true])
      it(`answers again without a call: ${format}, ${stream ? 'streamed' : 'whole'}`, async () => {
        await start();
        const { path, request, fold, whole } = dialects[format];
        const answers = [];
        for (const streamed of [false, stream]) {
          const response = await pair.post(path, { ...request('Hello!'), stream: streamed });
          const text = await response.text();
          answers.push(withoutUsage(await (streamed ? fold(text) : whole(JSON.parse(text)))));
          const { headers } = response;
          const found = ['x-gw-cache', 'x-gw-slot', 'x-gw-attempts'].map((name) => headers.get(name));
          expect(found).to.deep.equal(answers.length === 1 ? ['miss', 'a', '1'] : ['hit', null, '0']);
        }
        expect(answers[1]).to.deep.equal(answers[0]);
        expect(callsTo(pair.simulator)).to.have.length(1);
      });

  it('tells requests apart by their extras, and by who spoke, but for those that no answer depends on', async () => {
    await start();
    const found: (string | null)[] = [];
    for (const fields of [
      {},
      { seed: 1 },
      { seed: 2 },
      { seed: 1, prompt_cache_key: 'k' },
      { name: 'ann' },
    ]) {
      const { name, ...others } = fields as { readonly name?: string };
      const messages = [{ role: 'user', content: 'Hello!', ...(name && { name }) }];
      const response = await pair.post('/v1/chat/completions', { model: 'sonnet-5', messages, ...others });
      await response.text();
      found.push(response.headers.get('x-gw-cache'));
    }
    expect(found).to.deep.equal(['miss', 'miss', 'miss', 'hit', 'miss']);
  });

  it('bills nothing for an answer that it has', async () => {
    await start();
    const whole = async () =>
      (await (await pair.post('/v1/messages', ask('Hello!'))).json()) as MessagesResponse;
    expect((await whole()).usage.input_tokens).to.be.above(0);
    expect((await whole()).usage).to.include({ input_tokens: 0, output_tokens: 0 });
    const [, second] = await requestLines(pair);
    expect(JSON.stringify(second)).not.to.include('"slot"');
  });

  it('tells requests apart by all that an answer depends on, and by nothing else', async () => {
    await start();
    const beta = { 'anthropic-beta': 'b' };
    expect(
      await results(
        [],
        [{ temperature: 0 }],
        [{ metadata: { user_id: 'u' } }],
        [{ system: 'x' }],
        [{}, beta],
        [{}, beta],
      ),
    ).to.deep.equal(['miss', 'miss', 'hit', 'miss', 'miss', 'hit']);
    const [{ messages, ...rest }] = [ask('Hello!') as { messages: object }];
    const response = await pair.post('/v1/messages', { messages, ...rest });
    expect(response.headers.get('x-gw-cache')).to.equal('hit');
  });

  it('keeps the answers of each key to itself, unless they are shared', async () => {
    for (const shared of [false, true]) {
      await start({ shared });
      const key = { 'x-api-key': await issueKey(pair, 'one') };
      expect(await results([], [{}, key], [{}, key])).to.deep.equal(['miss', shared ? 'hit' : 'miss', 'hit']);
      if (!shared) await pair.close();
    }
  });

  it('forgets answers after their lifetime', async () => {
    await start({ ttl: '1m' });
    expect(await results([], [])).to.deep.equal(['miss', 'hit']);
    nowMs += 60_000;
    expect(await results([], [])).to.deep.equal(['miss', 'hit']);
  });

  it('asks again where the caller says so', async () => {
    await start();
    const control = (value: string) => [{}, { 'cache-control': value }] as const;
    expect(
      await results([], control('no-cache'), [], control('no-store'), [{}, { 'x-gw-cache': 'false' }]),
    ).to.deep.equal(['miss', 'miss', 'hit', null, null]);
    expect(callsTo(pair.simulator)).to.have.length(4);
  });

  it('lets requests with tools of the caller pass, unless told otherwise', async () => {
    await start();
    expect(await results([{ tools }], [{ tools }])).to.deep.equal([null, null]);
    await pair.close();
    await start({ tools: true });
    expect(await results([{ tools }], [{ tools }])).to.deep.equal(['miss', 'hit']);
  });

  it('keeps no answer that was cut off, refused, broken or too large', async () => {
    await start({ maxEach: '2kb' });
    for (const text of ['[[sim:refusal]]', '[[sim:cut after=8]]', `Hi ${'x'.repeat(3000)}`]) {
      for (let time = 0; time < 2; time += 1) {
        const response = await pair.post('/v1/messages', ask(text, { stream: true }));
        await response.text().catch(() => '');
        expect(response.headers.get('x-gw-cache'), text).to.equal('miss');
      }
    }
    expect(await results([{ max_tokens: 1 }], [{ max_tokens: 1 }])).to.deep.equal(['miss', 'miss']);
  });

  it('gives each of several choices an answer of its own', async () => {
    await start();
    const body = { ...dialects.chat.request('Hello!'), n: 2 };
    for (let time = 0; time < 2; time += 1) await (await pair.post('/v1/chat/completions', body)).text();
    expect(callsTo(pair.simulator)).to.have.length(2);
  });

  it('keeps to its size', async () => {
    await start({ maxSize: '8kb' });
    const texts = Array.from({ length: 20 }, (_, nth) => `Hello ${nth}!`);
    for (const text of texts) await (await pair.post('/v1/messages', ask(text))).text();
    const metrics = await (await pair.get('/metrics')).text();
    const [, bytes] = /gw2api_cache_entries\{cache="response_cache_bytes"\} (\d+)/.exec(metrics)!;
    expect(Number(bytes)).to.be.within(1000, 8192);
  });
});

/** An answer without its usage, its id and its time. */
function withoutUsage(answer: unknown): unknown {
  return timelessValue(
    JSON.parse(JSON.stringify(answer, (key, value: unknown) => (key === 'usage' ? undefined : value))),
  );
}
