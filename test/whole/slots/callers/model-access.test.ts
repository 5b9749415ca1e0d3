import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { ownFolder, type Place } from '../../../state/store/stores.js';
import { dialects, formatNames } from '../../formats/dialects.js';
import { ask, slotAt, startPair, type Pair } from '../../harness.js';
import { callsTo, errorIn, issueKey } from '../../kit.js';

/** In which the names of one model say nothing of those of the other. */
const catalog = `
models:
  - { id: small, aliases: [quick, large-mini], upstreamModel: haiku-4-5 }
  - { id: large, aliases: [small-plus, best], upstreamModel: sonnet-5 }
`;

describe('the models of a key', () => {
  let folder: Place<string>;
  let pair: Pair;
  let headers: Readonly<Record<string, string>>;
  before(async () => {
    folder = await ownFolder();
    const models = path.join(folder.where, 'models.yaml');
    await writeFile(models, catalog);
    pair = await startPair({ models }, {}, (url) => [slotAt(url)]);
    headers = { 'x-api-key': await issueKey(pair, 'small-only', { models: ['small*'] }) };
  });
  after(async () => {
    await pair.close();
    await folder.remove();
  });

  /** Neither the other model, nor by an alias that looks like one of its own, nor what only looks like it. */
  const refused = ['large', 'small-plus', 'best', 'sonnet-5', 'SMALL', ' small', 'quic'];

  for (const format of formatNames) {
    it(`are asked by id and by alias (${format})`, async () => {
      for (const model of ['small', 'quick', 'large-mini', 'haiku-4-5']) {
        const { path, request } = dialects[format];
        const answer = await pair.post(path, { ...request('Hi'), model }, headers);
        expect(answer.status, model).to.equal(200);
        await answer.text();
      }
    });

    it(`are no others, by whatever name (${format})`, async () => {
      const calls = callsTo(pair.simulator).length;
      for (const model of refused) {
        const { path, request } = dialects[format];
        const error = await errorIn(await pair.post(path, { ...request('Hi'), model }, headers));
        expect(error, model).to.include({ status: 403, type: 'permission_error', code: 'forbidden' });
        expect(error.message).to.include(JSON.stringify(model));
      }
      expect(callsTo(pair.simulator)).to.have.length(calls);
    });
  }

  it('are the ones whose tokens it may count', async () => {
    const count = (model: string) =>
      pair.post('/v1/messages/count_tokens', ask('Hi', { model, max_tokens: undefined }), headers);
    expect((await count('quick')).status).to.equal(200);
    for (const model of refused)
      expect(await errorIn(await count(model)), model).to.include({ status: 403, code: 'forbidden' });
  });

  it('are the ones that its list of models has', async () => {
    const list = async (query = '') => (await pair.get(`/v1/models${query}`, headers)).json();
    expect(await list()).to.nested.include({
      'data.length': 2,
      'data[0].id': 'small',
      'data[1].id': 'haiku-4-5',
      has_more: false,
    });
    expect(await list('?limit=1')).to.include({ first_id: 'small', last_id: 'small', has_more: true });
    const after = await errorIn(await pair.get('/v1/models?after_id=large', headers));
    expect(after).to.include({ status: 400, code: 'invalid_request' });
    const all = (await (await pair.get('/v1/models')).json()) as { data: readonly unknown[] };
    expect(all.data).to.have.length(4);
  });

  it('are the ones that it is shown', async () => {
    for (const id of ['small', 'quick', 'haiku-4-5'])
      expect((await pair.get(`/v1/models/${id}`, headers)).status).to.equal(200);
    for (const id of ['large', 'best', 'small-plus'])
      expect(await errorIn(await pair.get(`/v1/models/${id}`, headers)), id).to.include({
        status: 404,
        code: 'model_not_found',
      });
  });

  it("are the ones that the upstream's own tools may ask", async () => {
    const advised = (model: unknown) =>
      pair.post(
        '/v1/messages',
        ask('Hi', { model: 'small', tools: [{ type: 'advisor_20260301', name: 'advisor', model }] }),
        headers,
      );
    for (const model of ['sonnet-5', 'large', 'opus'])
      expect(await errorIn(await advised(model)), model).to.include({ status: 403, code: 'forbidden' });
    for (const model of ['haiku-4-5', 7, null])
      expect((await advised(model)).status, String(model)).not.to.equal(403);
  });

  it('are none where the list is empty', async () => {
    const nothing = { 'x-api-key': await issueKey(pair, 'nothing', { models: [] }) };
    expect((await pair.post('/v1/messages', ask('Hi', { model: 'small' }), nothing)).status).to.equal(403);
    expect(await (await pair.get('/v1/models', nothing)).json()).to.deep.include({
      data: [],
      first_id: null,
    });
  });
});
