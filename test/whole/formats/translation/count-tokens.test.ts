import { expect } from 'chai';
import { ask, slotAt, stages, startPair, type Pair } from '../../harness.js';
import { errorIn, stateOf } from '../../kit.js';

const request = ask('Hello!', { max_tokens: undefined });
const oauth = {
  kind: 'oauth',
  accessToken: 't',
  refreshToken: 'r',
  tokenUrl: 'http://127.0.0.1:9/token',
  clientId: 'gw',
};

describe('count_tokens', () => {
  let pair: Pair;
  afterEach(() => pair.close());

  const count = (body: object = request, headers: Readonly<Record<string, string>> = {}) =>
    pair.post('/v1/messages/count_tokens', body, headers);

  it('gives the count of the upstream, of the caller’s own request and nothing that the gateway adds', async () => {
    pair = await startPair();
    const response = await count();
    expect(response.headers.get('x-gw-slot')).to.equal('a');
    expect(response.headers.get('x-gw-estimated')).to.equal(null);
    const { input_tokens: tokens } = (await response.json()) as { input_tokens: number };
    expect(tokens).to.be.within(5, 30);
    const [call] = pair.simulator.requests;
    expect(call!.path).to.equal('/v1/messages/count_tokens');
    expect(call!.body).to.deep.equal({ model: 'sonnet-5', messages: [{ role: 'user', content: 'Hello!' }] });
  });

  it('passes query, version and betas on', async () => {
    pair = await startPair();
    await pair.post('/v1/messages/count_tokens?beta=true', request, { 'anthropic-beta': 'b-1' });
    const [call] = pair.simulator.requests;
    expect(call!.search).to.equal('?beta=true');
    expect(call!.headers).to.include({ 'anthropic-beta': 'b-1', 'anthropic-version': '2023-06-01' });
  });

  it('gives an estimate, marked and never 0, where the upstream has no such endpoint', async () => {
    pair = await startPair({}, { countTokens: false });
    const response = await count();
    expect(response.status).to.equal(200);
    expect(response.headers.get('x-gw-estimated')).to.equal('true');
    expect(await response.json())
      .to.have.property('input_tokens')
      .that.is.greaterThan(0);
  });

  it('of an OAuth account are its windows; the upstream is not asked', async () => {
    pair = await startPair({}, {}, (url) => [slotAt(url, { account: oauth })]);
    expect(await (await count()).json()).to.deep.equal({
      object: 'usage',
      unit: 'percent_used',
      account: 'a',
      '5h': null,
      '7d': null,
    });
    expect(pair.simulator.requests).to.deep.equal([]);
  });

  it('of an OAuth account are a number where format-encode says so', async () => {
    const pipeline = stages({ with: { 'format-encode': { countTokens: 'estimate' } } });
    pair = await startPair({ pipeline }, {}, (url) => [slotAt(url, { account: oauth })]);
    const response = await count();
    expect(response.headers.get('x-gw-estimated')).to.equal('true');
    expect(await response.json()).to.have.keys('input_tokens');
  });

  for (const fault of [
    '400 message="messages: too few"',
    '401',
    '403',
    '404',
    '429',
    '500',
    '529',
    'reset',
    'html',
  ]) {
    it(`that fails by "${fault}" leaves its slot alone`, async () => {
      pair = await startPair();
      pair.simulator.faults.push(`${fault} on=count-tokens`);
      const response = await count();
      if (response.status !== 200) expect((await errorIn(response)).message).not.to.equal('');
      else expect(response.headers.get('x-gw-estimated')).to.equal('true');
      expect(stateOf(pair, 'a')).to.equal('ready');
      expect(await pair.post('/v1/messages', ask('Hello!'))).to.have.property('status', 200);
    });
  }

  it('thirty at once are thirty', async () => {
    pair = await startPair();
    const answers = await Promise.all(Array.from({ length: 30 }, () => count()));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 30 }, () => 200));
  });

  it('of a body without messages is 400 here', async () => {
    pair = await startPair();
    expect(await errorIn(await count({ model: 'sonnet-5' }))).to.include({
      status: 400,
      code: 'invalid_request',
    });
    expect(pair.simulator.requests).to.deep.equal([]);
  });

  it('is kept on the slot of its session', async () => {
    pair = await startPair({}, {}, (url) => [
      slotAt(url),
      slotAt(url, { id: 'b' }),
      slotAt(url, { id: 'c' }),
    ]);
    const session = { 'x-session-id': 'one' };
    const bound = (await pair.post('/v1/messages', ask('Hello!'), session)).headers.get('x-gw-slot');
    for (let at = 0; at < 5; at += 1)
      expect((await count(request, session)).headers.get('x-gw-slot')).to.equal(bound);
  });
});
