import { expect } from 'chai';
import { dialects, formatNames } from '../../formats/dialects.js';
import { slotAt, stages, startPair, type Pair } from '../../harness.js';
import { errorIn, issueKey } from '../../kit.js';
import { scripted, type ScriptedUpstream } from '../../scripted-upstream.js';

describe('fallback', () => {
  let pair: Pair | undefined;
  let busy: ScriptedUpstream | undefined;
  afterEach(async () => {
    await pair?.close();
    await busy?.close();
  });

  /** A pair whose slot for sonnet-5 refuses all with this status; that for haiku-5 answers. */
  async function start(status = 529, message = 'Busy.', headers = {}): Promise<Pair> {
    busy = await scripted((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify({ type: 'error', error: { type: 'upstream_error', message } }));
    });
    const { url } = busy;
    pair = await startPair({ pipeline: withFallback() }, {}, (simulator) => [
      slotAt(url, { models: ['sonnet-*'] }),
      slotAt(simulator, { id: 'b', models: ['haiku-*'] }),
    ]);
    return pair;
  }

  for (const format of formatNames)
    for (const stream of [true, false])
      it(`answers by another model and says so: ${format}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const under = await start();
        const { path, request, fold, whole } = dialects[format];
        const response = await under.post(path, { ...request('Hi'), stream });
        expect(response.status).to.equal(200);
        const answer = stream ? await fold(await response.text()) : whole(await response.json());
        expect(answer).to.have.property('model', 'haiku-5');
        expect(response.headers.get('x-gw-model')).to.equal('haiku-5');
        expect(response.headers.get('x-gw-slot')).to.equal('b');
        expect(response.headers.get('x-gw-attempts')).to.equal('4');
      });

  it('is in the ledger and the log: the model asked for, the one that answered, and every attempt', async () => {
    const under = await start();
    await (await under.post('/v1/messages', dialects.messages.request('Hi'))).text();
    await under.gateway.exchanges.idle();
    const { ledger, store } = under.gateway.services;
    await ledger.flush();
    const [row] = (await store.ledger.requests({}, { limit: 1 })).rows;
    expect(row).to.include({ model: 'haiku-5', askedModel: 'sonnet-5', slot: 'b', attempts: 4 });
    const { trace } = (await store.ledger.get(row!))!;
    expect(trace).to.have.property('answeredBy', 'haiku-5');
    expect(trace!.calls.map(({ slot, model, code }) => [slot, model, code])).to.deep.equal([
      ['a', undefined, 'upstream_error'],
      ['a', undefined, 'upstream_error'],
      ['a', undefined, 'upstream_error'],
      ['b', 'haiku-5', undefined],
    ]);
    const line = under.logged.find(({ msg }) => msg === 'request');
    expect(line).to.include({ model: 'sonnet-5', answeredBy: 'haiku-5', slot: 'b' });
  });

  it('keeps a session on the model that has answered it', async () => {
    const under = await start();
    const attempts = [];
    for (const session of ['s', 's', 't']) {
      const response = await under.post('/v1/messages', dialects.messages.request('Hi'), {
        'x-session-id': session,
      });
      expect(response.headers.get('x-gw-model')).to.equal('haiku-5');
      attempts.push(response.headers.get('x-gw-attempts'));
    }
    expect(attempts[1]).to.equal('1');
  });

  it('brings a session back to its own model where the other one has failed it', async () => {
    let failing = 'a';
    const upstream = (id: string) =>
      scripted((_, response, { start: begin, text, end, stop }) => {
        response.writeHead(failing === id ? 529 : 200, { 'content-type': 'text/event-stream' });
        response.end(failing === id ? '' : begin + text('Hi.') + end + stop);
      });
    const [one, other] = [await upstream('a'), await upstream('b')];
    busy = { ...one, close: async () => void (await Promise.all([one.close(), other.close()])) };
    pair = await startPair({ pipeline: withFallback() }, {}, () => [
      slotAt(one.url, { models: ['sonnet-*'] }),
      slotAt(other.url, { id: 'b', models: ['haiku-*'] }),
    ]);
    const seen = [];
    for (failing of ['a', 'b', 'b']) {
      const asked = dialects.messages.request('Hi');
      const { headers } = await pair.post('/v1/messages', asked, { 'x-session-id': 's' });
      seen.push([headers.get('x-gw-slot'), headers.get('x-gw-attempts')]);
    }
    expect(seen).to.deep.equal([
      ['b', '4'],
      ['a', '4'],
      ['a', '1'],
    ]);
  });

  it('passes a refusal of the request on, as a content filter', async () => {
    const under = await start(400, 'Output blocked by content filtering policy');
    const response = await under.post('/v1/messages', dialects.messages.request('Hi'));
    expect(response.headers.get('x-gw-attempts')).to.equal('1');
    expect(await errorIn(response)).to.include({ status: 400 });
  });

  it('answers with the first failure and its retry-after where the key may not use the second model', async () => {
    const under = await start(429, 'Too many.', { 'retry-after': '17' });
    const key = await issueKey(under, 'team', { models: ['sonnet-*'] });
    const response = await under.post('/v1/messages', dialects.messages.request('Hi'), { 'x-api-key': key });
    expect(response.headers.get('retry-after')).to.equal('17');
    expect(await errorIn(response)).to.include({ status: 429, message: 'Too many.' });
  });

  it('is 403 where the key may not use the model that it asks for', async () => {
    const under = await start();
    const key = await issueKey(under, 'team', { models: ['haiku-*'] });
    const response = await under.post('/v1/messages', dialects.messages.request('Hi'), { 'x-api-key': key });
    expect(await errorIn(response)).to.include({ status: 403, code: 'forbidden' });
  });
});

/** The default pipeline with a fallback above slot-pick. */
function withFallback(): readonly object[] {
  const own = { use: 'fallback', with: { to: { 'sonnet-5': ['haiku-5'] } } };
  return stages().flatMap((each) => ('use' in each && each.use === 'slot-pick' ? [own, each] : [each]));
}
