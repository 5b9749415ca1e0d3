import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import {
  ask,
  eventsIn,
  shippedCatalog,
  slotAt,
  stages,
  startGateway,
  startPair,
  type Pair,
} from '../../harness.js';
import { callsTo, errorIn, issueKey, lastCall, only, requestLines, startTeam } from '../../kit.js';

interface Listed {
  readonly data: readonly { readonly id: string }[];
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
}

describe('models', () => {
  let pair: Pair;
  before(async () => void (pair = await startPair()));
  after(() => pair.close());

  async function list(query = ''): Promise<Listed> {
    return (await (await pair.get(`/v1/models${query}`)).json()) as Listed;
  }

  const ids = ({ data }: Listed) => data.map(({ id }) => id);

  it('are listed in the shape of both vendors', async () => {
    const catalog = await list();
    expect(catalog).to.include({ object: 'list', has_more: false, first_id: 'sonnet-5', last_id: 'haiku-5' });
    expect(catalog.data[0]).to.deep.equal({
      id: 'sonnet-5',
      object: 'model',
      created: Date.UTC(2026, 0, 1) / 1000,
      owned_by: 'gw2api',
      type: 'model',
      display_name: 'Sonnet 5',
      created_at: '2026-01-01T00:00:00Z',
      max_tokens: 128_000,
      context_window: 1_000_000,
      max_input_tokens: 1_000_000,
      lifecycle: 'active',
      line: null,
      deprecated_at: null,
      retires_at: null,
      capabilities: null,
    });
  });

  it('come in pages', async () => {
    const first = await list('?limit=2');
    expect([ids(first), first.has_more, first.last_id]).to.deep.equal([
      ['sonnet-5', 'sonnet-5-5'],
      true,
      'sonnet-5-5',
    ]);
    const second = await list(`?limit=2&after_id=${first.last_id}`);
    expect([ids(second), second.has_more]).to.deep.equal([['haiku-5'], false]);
    const back = await list(`?limit=1&before_id=${second.first_id}`);
    expect([ids(back), back.has_more]).to.deep.equal([['sonnet-5-5'], true]);
    const none = await list('?after_id=haiku-5');
    expect([ids(none), none.first_id, none.last_id]).to.deep.equal([[], null, null]);
  });

  for (const query of ['?limit=0', '?limit=1001', '?limit=x', '?after_id=nothing'])
    it(`are not listed for ${query}: 400 names the parameter`, async () => {
      const error = await errorIn(await pair.get(`/v1/models${query}`));
      expect(error).to.include({ status: 400, code: 'invalid_request' });
      expect(error.message).to.match(/^(limit|after_id): /);
    });

  it('are shown one by one, by id and by alias', async () => {
    for (const name of ['haiku-5', 'haiku'])
      expect(await (await pair.get(`/v1/models/${name}`)).json()).to.include({
        id: 'haiku-5',
        max_tokens: 64_000,
      });
    const error = await errorIn(await pair.get('/v1/models/gpt-0'));
    expect(error).to.include({ status: 404, type: 'not_found_error', code: 'model_not_found' });
  });

  it('are shown by names with slashes, encoded or not', async () => {
    for (const name of ['meta-llama/Llama-3.3-70B', 'meta-llama%2FLlama-3.3-70B', 'a/b/c/']) {
      const error = await errorIn(await pair.get(`/v1/models/${name}`));
      expect(error).to.include({ status: 404, code: 'model_not_found' });
    }
  });

  describe('of a catalog with other names upstream', () => {
    let dir: string;
    let renamed: Awaited<ReturnType<typeof startGateway>>;
    before(async () => {
      dir = await mkdtemp(path.join(os.tmpdir(), 'gw2api-'));
      const catalog =
        'models:\n  - { id: house-model, upstreamModel: vendor-model-2026, aliases: [house] }\n';
      await writeFile(path.join(dir, 'models.yaml'), catalog);
      renamed = await startGateway({
        models: path.join(dir, 'models.yaml'),
        slots: [slotAt(pair.simulator.url)],
      });
    });
    after(async () => {
      await renamed.close();
      await rm(dir, { recursive: true });
    });

    const bodies: Readonly<Record<string, object>> = {
      '/v1/messages': ask('Hello!'),
      '/v1/chat/completions': { messages: [{ role: 'user', content: 'Hello!' }] },
      '/v1/responses': { input: 'Hello!' },
      '/v1/completions': { prompt: 'Hello!' },
    };
    for (const [at, body] of Object.entries(bodies))
      for (const model of ['house-model', 'house', 'vendor-model-2026'])
        it(`the upstream gets its own name for ${model}, the caller sees the one it used (${at})`, async () => {
          const whole = await renamed.post(at, { ...body, model });
          expect(await whole.json()).to.have.property('model', model);
          expect(lastCall(pair.simulator)).to.have.property('model', 'vendor-model-2026');
          const text = await (await renamed.post(at, { ...body, model, stream: true })).text();
          const others = ['house-model', 'house', 'vendor-model-2026'].filter((name) => name !== model);
          expect(text).to.include(`"model":"${model}"`);
          for (const other of others) expect(text).to.not.include(`"model":"${other}"`);
          expect(eventsIn(text).length).to.be.greaterThan(2);
        });
  });

  describe('of the shipped catalog', () => {
    const models = shippedCatalog;

    it('are listed by id and by upstream name, and each is shown by either', async () => {
      const shipped = await startPair({ models });
      const { data } = (await (await shipped.get('/v1/models')).json()) as Listed;
      expect(data.map(({ id }) => id)).to.deep.equal([
        'sonnet-5',
        'claude-sonnet-5',
        'sonnet-5-5',
        'claude-sonnet-5-5',
        'haiku-5',
        'claude-haiku-5',
      ]);
      expect({ ...data[1], id: 'sonnet-5' }).to.deep.equal(data[0]);
      for (const [name, id] of Object.entries({ sonnet: 'sonnet-5', 'claude-haiku-5-20260101': 'haiku-5' }))
        expect(await (await shipped.get(`/v1/models/${name}`)).json()).to.include({ id });
      for (const one of data)
        expect(await (await shipped.get(`/v1/models/${one.id}`)).json()).to.deep.equal(one);
      const paged = await shipped.get('/v1/models?limit=2&after_id=claude-sonnet-5');
      expect(ids((await paged.json()) as Listed)).to.deep.equal(['sonnet-5-5', 'claude-sonnet-5-5']);
      await shipped.close();
    });

    it('go up by their upstream name, and the answer has the one that was asked for', async () => {
      const shipped = await startPair({ models });
      for (const [model, upstream] of [
        ['sonnet-5', 'claude-sonnet-5'],
        ['sonnet', 'claude-sonnet-5'],
        ['claude-sonnet-5', 'claude-sonnet-5'],
        ['claude-sonnet-5-20260101', 'claude-sonnet-5-20260101'],
        ['claude-sonnet-5-latest', 'claude-sonnet-5-latest'],
        ['sonnet-5-5', 'claude-sonnet-5-5'],
        ['haiku-5', 'claude-haiku-5'],
      ] as const) {
        const answer = await shipped.post('/v1/messages', ask('Hello!', { model }));
        expect(await answer.json()).to.have.property('model', model);
        expect(lastCall(shipped.simulator), model).to.have.property('model', upstream);
      }
      await shipped.close();
    });

    it('go up as a map of the slot says, by whichever name', async () => {
      const team = await startTeam(
        { models },
        {
          a: { models: { 'sonnet-5': 'vendor.sonnet', '*': 'vendor.any' } },
          b: { models: { 'claude-haiku-5': 'vendor.haiku' } },
        },
      );
      for (const [model, upstream] of [
        ['sonnet-5', 'vendor.sonnet'],
        ['claude-sonnet-5', 'vendor.sonnet'],
        ['claude-sonnet-5-5', 'vendor.any'],
      ] as const) {
        await (await team.post('/v1/messages', ask('Hello!', { model }))).text();
        expect(lastCall(team.simulator), model).to.have.property('model', upstream);
      }
      await team.close();
    });

    it('are one model for keys', async () => {
      const shipped = await startPair({ models });
      for (const globs of [['claude-sonnet-5*'], ['sonnet-5*']]) {
        const headers = { 'x-api-key': await issueKey(shipped, globs.join(), { models: globs }) };
        const asked = async (model: string) =>
          (await shipped.post('/v1/messages', ask('Hi', { model }), headers)).status;
        for (const model of ['sonnet-5', 'claude-sonnet-5', 'claude-sonnet-5-5', 'claude-sonnet-5-20260101'])
          expect(await asked(model), model).to.equal(200);
        for (const model of ['haiku-5', 'claude-haiku-5']) expect(await asked(model), model).to.equal(403);
        const { data } = (await (await shipped.get('/v1/models', headers)).json()) as Listed;
        expect(data).to.have.length(4);
      }
      await shipped.close();
    });

    it('are one model for routes, conditions, chains and the ledger', async () => {
      const router = {
        use: 'model-router',
        with: { routes: [{ to: 'claude-sonnet-5', model: ['sonnet-5-5'] }] },
        when: { not: { model: ['haiku-5'] } },
      };
      const fallback = { use: 'fallback', with: { to: { 'claude-sonnet-5': ['claude-haiku-5'] } } };
      const pipeline = stages().toSpliced(4, 0, router, fallback);
      const slots = { a: { models: ['sonnet-*'] }, b: { models: ['claude-haiku-5'] } };
      const team = await startTeam({ models, pipeline }, slots);
      team.simulator.faults.push(only('a', '529'));
      for (const model of ['claude-sonnet-5-5', 'sonnet-5', 'claude-haiku-5']) {
        const answer = await team.post('/v1/messages', ask('Hi', { model }));
        const echoed = model === 'claude-haiku-5' ? model : 'haiku-5';
        expect(await answer.json(), model).to.have.property('model', echoed);
      }
      const lines = await requestLines(team);
      expect(lines.map(({ model }) => model)).to.deep.equal(['sonnet-5-5', 'sonnet-5', 'haiku-5']);
      await team.close();
    });
  });

  it('that the catalog lacks go upstream as they are where a slot takes all', async () => {
    const body = ask('Hello!', { model: 'brand-new', max_tokens: undefined });
    expect(await pair.post('/v1/messages', body)).to.have.property('status', 200);
    expect(lastCall(pair.simulator)).to.include({ model: 'brand-new', max_tokens: 128_000 });
  });

  it('that no slot serves are 404 model_not_found, and no slot is asked', async () => {
    const team = await startTeam({}, { a: { models: ['sonnet-*'] }, b: { models: ['haiku-5'] } });
    for (const model of ['brand-new', 'sonnet-9']) {
      const error = await errorIn(await team.post('/v1/messages', ask('Hello!', { model })));
      expect(error).to.include({ status: 404, type: 'not_found_error', code: 'model_not_found' });
    }
    const close = await errorIn(await team.post('/v1/messages', ask('Hello!', { model: 'haiku-6' })));
    expect(close.message).to.include('did you mean "haiku-5"?');
    const served = await team.post('/v1/messages', ask('Hello!', { model: 'haiku-5' }));
    expect(served.headers.get('x-gw-slot')).to.equal('b');
    expect(callsTo(team.simulator)).to.have.length(1);
    await team.close();
  });

  it('lose a prefix, `:latest` and their case where no slot takes the name as it stands', async () => {
    const team = await startTeam({}, { a: { models: ['sonnet-5'] }, b: { models: ['haiku'] } });
    for (const [model, slot, upstream] of [
      ['anthropic/sonnet-5', 'a', 'sonnet-5'],
      ['a/Sonnet-5:latest', 'a', 'sonnet-5'],
      ['Claude-Sonnet-5', 'a', 'claude-sonnet-5'],
      ['HAIKU', 'b', 'haiku-5'],
    ] as const) {
      const answer = await team.post('/v1/messages', ask('Hello!', { model }));
      expect([answer.status, answer.headers.get('x-gw-slot')], model).to.deep.equal([200, slot]);
      expect(await answer.json()).to.have.property('model', model);
      expect(lastCall(team.simulator)).to.have.property('model', upstream);
    }
    for (const model of ['us.anthropic.sonnet-5', 'eu/sonnet-5', 'anthropic/openai/sonnet-5', 'foo/sonnet-5'])
      expect((await team.post('/v1/messages', ask('Hello!', { model }))).status, model).to.equal(404);
    await team.close();
  });

  it('are as written where a slot takes all', async () => {
    for (const model of ['anthropic/sonnet-5', 'SONNET-5', 'sonnet-5:latest']) {
      expect((await pair.post('/v1/messages', ask('Hello!', { model }))).status).to.equal(200);
      expect(lastCall(pair.simulator)).to.have.property('model', model);
    }
  });

  it('with [1m] behind them ask for a long context by its beta flag', async () => {
    const headers = { 'anthropic-beta': 'effort-2025-11-24' };
    const answer = await pair.post('/v1/messages', ask('Hello!', { model: 'sonnet-5[1m]' }), headers);
    expect(await answer.json()).to.have.property('model', 'sonnet-5[1m]');
    expect(lastCall(pair.simulator)).to.have.property('model', 'sonnet-5');
    expect(callsTo(pair.simulator).at(-1)?.headers).to.have.property(
      'anthropic-beta',
      'effort-2025-11-24,context-1m-2025-08-07',
    );
  });

  it('are served by slots that name an alias or the upstream name of theirs', async () => {
    const team = await startTeam({}, { a: { models: ['haik*'] }, b: { models: ['sonnet'] } });
    for (const [model, slot] of [
      ['haiku-5', 'a'],
      ['sonnet-5', 'b'],
    ] as const) {
      const answer = await team.post('/v1/messages', ask('Hello!', { model }));
      expect(answer.headers.get('x-gw-slot')).to.equal(slot);
      await answer.text();
    }
    await team.close();
  });
});
