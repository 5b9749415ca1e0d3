import { once } from 'node:events';
import { expect } from 'chai';
import { request } from 'undici';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { headers, post, refusal, saying } from './caller.js';
import { clockAt } from '../../../clock-at.js';

async function messageOf(
  simulator: Simulator,
  changed: object,
  body: unknown = saying('Hi'),
): Promise<string> {
  return (await refusal(simulator, body, { headers: { ...headers, ...changed } })).message;
}

async function statusOf(
  simulator: Simulator,
  method: 'GET' | 'POST' | 'HEAD',
  path: string,
): Promise<number> {
  const { statusCode, body } = await request(simulator.url + path, { method, headers });
  await body.dump();
  return statusCode;
}

describe('the simulator as a server', () => {
  let simulator: Simulator;
  before(async () => {
    simulator = await startSimulator({ clock: clockAt(() => Date.UTC(2026, 0, 1, 12)) });
  });
  after(() => simulator.close());

  it('asks for a credential, in either header', async () => {
    const { 'x-api-key': _, ...others } = headers;
    expect(await refusal(simulator, saying('Hi'), { headers: others })).to.deep.equal({
      status: 401,
      type: 'authentication_error',
      message: 'x-api-key header is required',
    });
    const empty = await refusal(simulator, saying('Hi'), {
      headers: { ...others, authorization: 'Bearer ' },
    });
    expect(empty).to.include({ status: 401, message: 'Invalid bearer token' });
    const bearer = await post(simulator, saying('Hi'), { headers: { ...others, authorization: 'Bearer k' } });
    await bearer.body.dump();
    expect(bearer.statusCode).to.equal(200);
  });

  it('asks for a known API version and for JSON', async () => {
    expect(await messageOf(simulator, { 'anthropic-version': '2020-01-01' })).to.equal(
      'anthropic-version: "2020-01-01" is not a valid version',
    );
    expect(await messageOf(simulator, { 'content-type': 'text/plain' })).to.equal(
      'Content-Type: must be application/json',
    );
    expect(await messageOf(simulator, {}, '{"model"')).to.match(/^The request body is not valid JSON/);
    expect(await messageOf(simulator, {}, '[]')).to.equal('Input should be an object');
  });

  it('refuses a body that is too large', async () => {
    const small = await startSimulator({ maxBodyBytes: 100 });
    expect(await refusal(small, saying('x'.repeat(200)))).to.include({
      status: 413,
      type: 'request_too_large',
    });
    await small.close();
  });

  it('does not know other paths and methods', async () => {
    expect(await statusOf(simulator, 'GET', '/v1/messages')).to.equal(405);
    expect(await statusOf(simulator, 'POST', '/v1/other')).to.equal(404);
    expect(await statusOf(simulator, 'HEAD', '/api/hello')).to.equal(404);
    expect(await statusOf(simulator, 'GET', '/other')).to.equal(404);
    expect([await statusOf(simulator, 'HEAD', '/'), await statusOf(simulator, 'GET', '/')]).to.deep.equal([
      200, 200,
    ]);
  });

  it('lists its models', async () => {
    const { body } = await request(`${simulator.url}/v1/models?limit=1000`, { headers });
    const { data, has_more } = (await body.json()) as { data: { id: string }[]; has_more: boolean };
    expect(data.map(({ id }) => id)).to.include('sonnet-5-5');
    expect(has_more).to.equal(false);
    const one = await request(`${simulator.url}/v1/models/sonnet-5`, { headers });
    expect(await one.body.json()).to.include({ id: 'sonnet-5', type: 'model' });
  });

  it('answers any model but one that begins with no-such-model', async () => {
    expect((await post(simulator, saying('Hi', { model: 'anything' }))).statusCode).to.equal(200);
    expect(await refusal(simulator, saying('Hi', { model: 'no-such-model-7' }))).to.deep.equal({
      status: 404,
      type: 'not_found_error',
      message: 'model: no-such-model-7',
    });
  });

  it('can be told what models can do, and to have no count_tokens', async () => {
    const other = await startSimulator({
      models: { small: { maxTokens: 100, sampling: false } },
      countTokens: false,
    });
    expect((await refusal(other, saying('Hi', { model: 'small', max_tokens: 101 }))).message).to.match(
      /101 > 100/,
    );
    expect(
      (await refusal(other, saying('Hi', { model: 'small', max_tokens: 9, top_k: 1 }))).message,
    ).to.equal('top_k: Extra inputs are not permitted');
    expect((await refusal(other, {}, { path: '/v1/messages/count_tokens' })).status).to.equal(404);
    await other.close();
  });

  it('sends the headers of the real service', async () => {
    const answer = await post(simulator, saying('Hi', { stream: true }));
    await answer.body.dump();
    expect(answer.headers).to.include({
      'content-type': 'text/event-stream; charset=utf-8',
      'anthropic-ratelimit-unified-5h-utilization': '0.125',
      'anthropic-ratelimit-unified-5h-status': 'allowed',
      'anthropic-ratelimit-unified-7d-utilization': '0.03',
      'anthropic-ratelimit-requests-limit': '4000',
    });
    expect(answer.headers['request-id']).to.match(/^req_01\w{22}$/);
    const reset = Number(answer.headers['anthropic-ratelimit-unified-5h-reset']) * 1000;
    expect(reset - Date.UTC(2026, 0, 1, 12)).to.be.within(1, 5 * 3_600_000);
  });

  describe('for tests', () => {
    it('shows what it received', async () => {
      const arrived = simulator.nextRequest(({ search }) => search === '?beta=true');
      const body = saying('Look');
      const answer = await post(simulator, body, { path: '/v1/messages?beta=true' });
      await answer.body.dump();
      const exchange = await arrived;
      expect(exchange).to.include({ method: 'POST', path: '/v1/messages', credential: 'test-key' });
      expect(exchange.headers).to.include({ 'anthropic-version': '2023-06-01' });
      expect([exchange.text, exchange.body]).to.deep.equal([JSON.stringify(body), body]);
      expect([await exchange.closed, exchange.status]).to.deep.equal(['finished', 200]);
      expect(simulator.requests.at(-1)).to.equal(exchange);
    });

    it('keeps only so many of the last requests', async () => {
      const seen: string[] = [];
      const forgetful = await startSimulator({ keep: 2, onRequest: ({ text }) => void seen.push(text) });
      for (const text of ['one', 'two', 'three']) {
        const { body } = await post(forgetful, saying(text));
        await body.dump();
      }
      expect([seen.length, forgetful.requests.length]).to.deep.equal([3, 2]);
      await forgetful.close();
    });

    it('knows when the caller leaves', async () => {
      const arrived = simulator.nextRequest();
      const leave = new AbortController();
      const { body } = await post(simulator, saying('[[sim:stall after=4]]', { stream: true }), {
        signal: leave.signal,
      });
      body.on('error', () => undefined);
      await once(body, 'readable');
      const exchange = await arrived;
      expect([exchange.ending, exchange.eventsWritten]).to.deep.equal([undefined, 4]);
      leave.abort();
      expect(await exchange.closed).to.equal('aborted');
      expect(exchange.isAborted).to.equal(true);
    });

    it('writes no faster than the caller reads', async () => {
      const arrived = simulator.nextRequest();
      const { body } = await post(simulator, saying('[[sim:size kb=32768]]', { stream: true }));
      const exchange = await arrived;
      await exchange.blocked;
      expect(exchange.isBlocked).to.equal(true);
      expect(exchange.bytesWritten).to.be.lessThan(16 * 1024 * 1024);
      expect((await body.text()).length).to.equal(exchange.bytesWritten);
      expect(await exchange.closed).to.equal('finished');
      expect(exchange.bytesWritten).to.be.greaterThan(32 * 1024 * 1024);
    });
  });

  it('drops every connection when it closes', async () => {
    const closing = await startSimulator();
    const arrived = closing.nextRequest();
    const answered = post(closing, saying('[[sim:hang]]')).catch((error: unknown) => error);
    await arrived;
    await closing.close();
    expect(await answered).to.be.an('error');
  });

  it('says why it cannot listen', async () => {
    const error = await startSimulator({ port: simulator.port }).catch((cause: unknown) => cause);
    expect(error).to.have.property('code', 'EADDRINUSE');
  });
});
