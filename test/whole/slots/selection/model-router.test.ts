import { expect } from 'chai';
import { dialects, formatNames } from '../../formats/dialects.js';
import { ask, stages, startPair, type Pair } from '../../harness.js';
import { errorIn, issueKey, lastCall, requestLines } from '../../kit.js';

describe('a request that model-router sends to another model', () => {
  let pair: Pair;
  before(async () => {
    const routes = [{ to: 'haiku-5', header: { 'x-tier': ['low'] } }];
    const pipeline = stages().flatMap((stage) =>
      (stage as { use: string }).use === 'rate-limit'
        ? [{ use: 'model-router', with: { routes } }, stage]
        : [stage],
    );
    pair = await startPair({ pipeline });
  });
  after(() => pair.close());

  for (const format of formatNames)
    it(`is answered under the name of that one (${format})`, async () => {
      const { path, request } = dialects[format];
      const body = { ...request('Hi'), model: 'sonnet-5' };
      const answer = await pair.post(path, body, { 'x-tier': 'low' });
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('x-gw-model')).to.equal('haiku-5');
      expect(await answer.json()).to.include({ model: 'haiku-5' });
      expect(lastCall(pair.simulator)).to.include({ model: 'haiku-5' });
    });

  it('is counted for it, too', async () => {
    const body = ask('Hi', { max_tokens: undefined });
    expect((await pair.post('/v1/messages/count_tokens', body, { 'x-tier': 'low' })).status).to.equal(200);
    expect(pair.simulator.requests.at(-1)!.body).to.include({ model: 'haiku-5' });
  });

  it('is in the log with the model that was asked for, and that of the answer and of each call', async () => {
    await (await pair.post('/v1/messages', ask('Hi'), { 'x-tier': 'low' })).text();
    const lines = await requestLines(pair);
    expect(lines.at(-1)).to.include({ model: 'sonnet-5', answeredBy: 'haiku-5' });
    await pair.gateway.services.ledger.flush();
    const list = await pair.get('/api/panel/requests?limit=1');
    const [latest] = ((await list.json()) as { data: readonly { id: string }[] }).data;
    expect(latest).to.include({ model: 'haiku-5', asked_model: 'sonnet-5' });
    const opened = await (await pair.get(`/api/panel/requests/${latest!.id}`)).json();
    expect(opened).to.include({ answered_by: 'haiku-5' });
    expect((opened as { calls: readonly object[] }).calls[0]).to.include({ slot: 'a', model: 'haiku-5' });
  });

  it('is what the usage is grouped by, with the model that was asked for beside it', async () => {
    const headers = { 'x-tier': 'low', 'x-api-key': await issueKey(pair, 'counted') };
    const of = async (path: string) => (await (await pair.get(path)).json()) as { data: readonly Row[] };
    await (await pair.post('/v1/messages', ask('Hi'), headers)).text();
    await pair.gateway.exchanges.idle();
    await pair.gateway.services.ledger.flush();
    const { id } = (await of('/api/panel/keys')).data.find(({ name }) => name === 'counted')!;
    for (const [query, group] of [
      ['by=model', 'haiku-5'],
      ['by=asked_model', 'sonnet-5'],
      ['by=asked_model&step=90s', 'sonnet-5'],
      ['by=asked_model&model=haiku-5', 'sonnet-5'],
      ['by=model&model=haiku-5', 'haiku-5'],
    ] as const) {
      const { data } = await of(`/api/panel/usage?key=${id}&${query}`);
      expect(
        data.map((each) => [each.group, each.requests]),
        query,
      ).to.deep.equal([[group, 1]]);
    }
  });

  it('is refused to a key that may not use it', async () => {
    const headers = { 'x-api-key': await issueKey(pair, 'laptop', { models: ['sonnet-*'] }) };
    expect((await pair.post('/v1/messages', ask('Hi'), headers)).status).to.equal(200);
    expect(
      await errorIn(await pair.post('/v1/messages', ask('Hi'), { ...headers, 'x-tier': 'low' })),
    ).to.include({
      status: 403,
      code: 'forbidden',
      message: 'The key "laptop" may not use model "haiku-5".',
    });
  });
});

interface Row {
  readonly id: string;
  readonly name: string;
  readonly group: string;
  readonly requests: number;
}
