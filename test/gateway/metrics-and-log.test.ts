import { expect } from 'chai';
import { ask, masterKey, startPair, type Pair } from './harness.js';
import { issueKey, raw, requestLines } from './kit.js';

describe('the log', () => {
  let pair: Pair;
  beforeEach(async () => void (pair = await startPair()));
  afterEach(() => pair.close());

  const chat = { model: 'haiku', messages: [{ role: 'user', content: 'Hello!' }] };

  it('has one line a request: id, key, slot, model, status, ms, tokens', async () => {
    const key = await issueKey(pair, 'ci');
    const response = await pair.post('/v1/chat/completions', chat, {
      'x-api-key': key,
      'x-request-id': 'one',
    });
    const { usage } = (await response.json()) as { usage: { completion_tokens: number } };
    const lines = await requestLines(pair);
    expect(lines).to.have.length(1);
    const [line] = lines;
    expect(line).to.include({
      id: 'one',
      level: 'info',
      method: 'POST',
      path: '/v1/chat/completions',
      operation: 'generate',
      format: 'chat',
      status: 200,
      outcome: 'completed',
      key: 'ci',
      model: 'haiku-5',
      slot: 'a',
      attempts: 1,
      delivery: 'whole',
    });
    expect(line!['ms']).to.be.within(0, 5000);
    expect(line!['tokens']).to.have.keys('input', 'cache_read', 'cache_write', 'output');
    expect(line!['tokens']).to.include({ output: usage.completion_tokens });
  });

  it('says of each request how it ended', async () => {
    await (await pair.post('/v1/messages', ask('Hello!', { stream: true }))).text();
    await (await pair.post('/v1/messages', ask('[[sim:400]]'))).text();
    await (await pair.post('/v1/messages', ask('[[sim:empty]]'))).text();
    await (
      await pair.post('/v1/messages', ask('[[sim:tokens n=9]][[sim:cut after=8]]', { stream: true }))
    ).text();
    await (await pair.get('/v1/models')).text();
    await fetch(`${pair.url}/v1/models`);
    const lines = await requestLines(pair);
    const told = lines.map(({ operation, status, outcome, code, key }) => ({
      operation,
      status,
      outcome,
      code,
      key,
    }));
    const generate = { operation: 'generate', code: undefined, key: 'master' };
    expect(told).to.deep.equal([
      { ...generate, status: 200, outcome: 'completed' },
      { ...generate, status: 400, outcome: 'completed' },
      { ...generate, status: 502, outcome: 'failed' },
      { ...generate, status: 200, outcome: 'failed', code: 'upstream_interrupted' },
      { ...generate, operation: 'models', status: 200, outcome: 'completed' },
      { ...generate, operation: 'models', status: 401, outcome: 'completed', key: undefined },
    ]);
  });

  it('has health checks only at debug level', async () => {
    await (await pair.get('/health')).text();
    const [line] = await requestLines(pair);
    expect(line).to.include({ level: 'debug', path: '/health', status: 200 });
  });

  it('holds no key, no body and no text of an answer', async () => {
    const key = await issueKey(pair, 'secretive');
    const secret = 'the launch code is 0000';
    const system = 'a system prompt that is mine';
    await (await pair.post('/v1/messages', ask(secret, { system }), { 'x-api-key': key })).text();
    await (
      await pair.post('/v1/messages', ask(`${secret} [[sim:400]]`), { authorization: `Bearer ${key}` })
    ).text();
    await (await pair.post('/v1/messages', ask(`${secret} [[sim:reset]]`))).text();
    await pair.get(`/v1/nothing?key=${key}`);
    await requestLines(pair);
    const text = JSON.stringify(pair.logged);
    for (const word of [key, masterKey, 'upstream-key', 'launch code', 'system prompt', 'You said'])
      expect(text).not.to.include(word);
  });

  it('says why a request failed that is not the caller’s fault, with its id', async () => {
    await pair.post('/v1/messages', ask('[[sim:empty]]'), { 'x-request-id': 'broken' });
    const warning = pair.logged.find(({ level, code }) => level === 'warn' && code === 'incomplete_response');
    expect(warning).to.include({ id: 'broken', status: 502 });
  });

  it('adds the tokens of all calls of a request up', async () => {
    await (await pair.post('/v1/chat/completions', { ...chat, n: 3 })).text();
    await (await pair.post('/v1/chat/completions', chat)).text();
    const [three, one] = (await requestLines(pair)) as unknown as { tokens: { output: number } }[];
    expect(three!.tokens.output).to.equal(3 * one!.tokens.output);
  });
});

describe('/metrics', () => {
  let pair: Pair;
  before(async () => void (pair = await startPair()));
  after(() => pair.close());

  const scrape = async () => (await pair.get('/metrics')).text();

  /** The value of a sample whose labels include these. */
  function sample(text: string, name: string, labels: Readonly<Record<string, string>>): number {
    const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`));
    const found = lines.filter((line) =>
      Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`)),
    );
    return found.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  it('is Prometheus text, for the master key', async () => {
    const { status, headers, text } = await raw(`${pair.url}/metrics`, {
      headers: { 'x-api-key': masterKey },
    });
    expect(status).to.equal(200);
    expect(headers['content-type']).to.match(/^text\/plain; version=0\.0\.4/);
    expect(text).to.match(/^process_resident_memory_bytes \d+/m);
  });

  it('counts requests, tokens and seconds, those before the first scrape too', async () => {
    const fresh = await startPair();
    for (let at = 0; at < 3; at += 1) await (await fresh.post('/v1/messages', ask('Hello!'))).text();
    await (await fresh.post('/v1/messages', ask('[[sim:empty]]'))).text();
    const lines = (await requestLines(fresh)) as unknown as { tokens: { output: number } }[];
    const text = await (await fresh.get('/metrics')).text();
    await fresh.close();
    const generate = { operation: 'generate', format: 'messages', slot: 'a' };
    expect(
      sample(text, 'gw2api_requests_total', { ...generate, status: '200', outcome: 'completed' }),
    ).to.equal(3);
    expect(sample(text, 'gw2api_requests_total', { ...generate, status: '502', outcome: 'failed' })).to.equal(
      1,
    );
    const output = lines.reduce((sum, { tokens }) => sum + tokens.output, 0);
    expect(sample(text, 'gw2api_tokens_total', { slot: 'a', kind: 'output' })).to.equal(output);
    expect(sample(text, 'gw2api_request_seconds_count', { operation: 'generate' })).to.equal(4);
  });

  it('has no label that a caller can make up', async () => {
    await pair.post('/v1/messages', ask('Hello!', { model: 'made-up-model' }), {
      'x-request-id': 'made-up-id',
    });
    await pair.get('/v1/made-up-path');
    await pair.gateway.exchanges.idle();
    expect(await scrape()).not.to.include('made-up');
  });
});
