import { expect } from 'chai';
import { startPair, stages, type Pair } from '../../harness.js';
import { PanelClient } from '../../console/panel-client.js';

interface Answered {
  readonly id: string;
  readonly status: string;
}

describe('the quota of stored responses', () => {
  let pair: Pair;
  before(async () => {
    const storedResponses = { maxSize: '40kb', maxCount: 3, maxEach: '20kb' };
    pair = await startPair({ pipeline: stages({ with: { 'format-encode': { storedResponses } } }) });
  });
  after(() => pair.close());

  const answer = (fields: object) => pair.post('/v1/responses', { model: 'sonnet-5', ...fields });
  const idOf = async (fields: object) => ((await (await answer(fields)).json()) as Answered).id;
  const statusOf = async (id: string) => (await pair.get(`/v1/responses/${id}`)).status;

  async function metric(name: string): Promise<number> {
    const text = await (await pair.get('/metrics')).text();
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  }

  it('lets the oldest go, and a chain whose beginning has gone is a 400 that says so', async () => {
    const ids: string[] = [];
    for (const input of ['1', '2', '3', '4']) ids.push(await idOf({ input }));
    expect(await Promise.all(ids.map(statusOf))).to.deep.equal([404, 200, 200, 200]);
    const continued = await answer({ input: 'More', previous_response_id: ids[0] });
    expect(continued.status).to.equal(400);
    const { error } = (await continued.json()) as { error: { code: string; message: string } };
    expect(error.code).to.equal('previous_response_not_found');
    expect(error.message).to.match(/^Previous response with id '.*' not found\. .* to make room/);
    expect((await answer({ input: 'More', previous_response_id: ids[1] })).status).to.equal(200);
  });

  it('is told in the console and in the metrics', async () => {
    const panel = new PanelClient(pair.url);
    const { responses } = (await panel.get('/status')).store;
    expect(responses.count).to.equal(3);
    expect(responses.bytes).to.be.within(1000, 40 * 1024);
    expect(await metric('gw2api_stored_responses')).to.equal(3);
    expect(await metric('gw2api_stored_response_bytes')).to.equal(responses.bytes);
    const { id, key } = await panel.ask('POST', '/keys', { name: 'k' });
    await pair.post('/v1/responses', { model: 'sonnet-5', input: 'Hi' }, { 'x-api-key': key });
    const { data } = await panel.get('/keys');
    const listed = data.find((each: { id: string }) => each.id === id);
    expect(listed.stored_responses.count).to.equal(1);
    expect((await panel.get('/status')).store.responses.count).to.equal(4);
  });

  for (const stream of [false, true])
    it(`answers what is too large to be stored, and says so (stream: ${String(stream)})`, async () => {
      const before = await metric('gw2api_responses_unstored_total');
      const response = await answer({ input: 'x'.repeat(25_000), stream });
      expect(response.status).to.equal(200);
      expect(response.headers.get('x-gw-dropped')).to.equal('store');
      const [id] = /resp_\w+/.exec(await response.text())!;
      expect(await statusOf(id)).to.equal(404);
      expect((await metric('gw2api_responses_unstored_total')) - (before || 0)).to.equal(1);
      expect(pair.logged.map(({ msg }) => msg)).to.include('A response is too large to be stored.');
    });

  it('says nothing of it where nothing was to be stored', async () => {
    const response = await answer({ input: 'x'.repeat(25_000), store: false });
    expect(response.headers.get('x-gw-dropped')).to.equal(null);
  });

  it('names what the answer has made too large beside what else was dropped, in a whole answer', async () => {
    const response = await answer({ input: 'x'.repeat(20_000), seed: 5 });
    expect(response.headers.get('x-gw-dropped')?.split(', ')).to.have.members(['seed', 'store']);
    const { id } = (await response.json()) as Answered;
    expect(await statusOf(id)).to.equal(404);
  });

  it('is no reason to fail a stream that has begun', async () => {
    const text = await (await answer({ input: 'x'.repeat(20_000), stream: true })).text();
    expect(text).to.contain('event: response.completed');
    expect(await statusOf(/resp_\w+/.exec(text)![0])).to.equal(404);
  });
});
