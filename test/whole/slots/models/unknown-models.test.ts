import { expect } from 'chai';
import { startSimulator, type SimulatorOptions } from '#plugins/upstreams/simulator/server.js';
import { eventually } from '../../../eventually.js';
import { ask, slotAt, startGateway, startPair, type Pair } from '../../harness.js';
import { callsTo, errorIn, lastCall } from '../../kit.js';

type Call = Readonly<Record<string, unknown>>;

const hello = { messages: [{ role: 'user', content: 'Hello!' }] };

/** What each call of a model has said of `field`, oldest first. */
function sent({ simulator }: Pair, field: string): readonly unknown[] {
  return callsTo(simulator).map(({ body }) => (body as Call)[field]);
}

describe('a model that the catalog lacks', () => {
  let pair: Pair;
  afterEach(() => pair.close());

  async function start(models: SimulatorOptions['models'], config: object = {}): Promise<void> {
    pair = await startPair({ ...config }, { ...(models && { models }), hasModelList: false });
  }

  const chat = (fields: object) => pair.post('/v1/chat/completions', { ...hello, ...fields });

  describe('whose cap is below 128000', () => {
    beforeEach(() => start({ 'new-7': { maxTokens: 64_000 } }));

    it('is asked once more with the limit that it names, which is its cap from then on', async () => {
      const first = await chat({ model: 'new-7' });
      expect([first.status, first.headers.get('x-gw-attempts')]).to.deep.equal([200, '2']);
      expect(sent(pair, 'max_tokens')).to.deep.equal([128_000, 64_000]);
      expect(await chat({ model: 'new-7' })).to.have.property('status', 200);
      expect(sent(pair, 'max_tokens')).to.deep.equal([128_000, 64_000, 64_000]);
      const metrics = await (await pair.get('/metrics')).text();
      expect(metrics).to.include('gw2api_taken_back_total{part="max_tokens",slot="a"} 1');
      const wanted = await chat({ model: 'new-7', max_tokens: 64_001 });
      expect([wanted.status, lastCall(pair.simulator)['max_tokens']]).to.deep.equal([200, 64_000]);
    });

    it('is asked so in every format', async () => {
      const ways = [
        ['/v1/messages', hello],
        ['/v1/chat/completions', { ...hello, stream: true }],
        ['/v1/responses', { input: 'Hello!' }],
        ['/v1/completions', { prompt: 'Hello!' }],
      ] as const;
      for (const [path, body] of ways) {
        const response = await pair.post(path, { model: 'new-7', ...body });
        expect([response.status, await response.text()][0], path).to.equal(200);
      }
      expect(sent(pair, 'max_tokens')).to.deep.equal([128_000, 64_000, 64_000, 64_000, 64_000]);
    });

    it('is asked once more with a translated value of the caller’s own, which is reported', async () => {
      const { status, headers } = await chat({ model: 'new-7', max_tokens: 64_001 });
      expect([status, headers.get('x-gw-dropped')]).to.deep.equal([200, 'max_tokens']);
      expect(sent(pair, 'max_tokens')).to.deep.equal([64_001, 64_000]);
    });

    it('refuses a value of a Messages caller in its own words, and once', async () => {
      const asked = pair.post('/v1/messages', { ...hello, model: 'new-7', max_tokens: 64_001 });
      expect(await errorIn(await asked)).to.include({
        status: 400,
        message: 'max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for new-7',
      });
      expect(sent(pair, 'max_tokens')).to.deep.equal([64_001]);
    });
  });

  it('is asked once more where what is left of its context is named, which is no cap of it', async () => {
    await start({});
    const message = 'input length and `max_tokens` exceed context limit: 120000 + 128000 > 200000';
    pair.simulator.faults.push(`400 times=1 on=generate message=${JSON.stringify(message)}`);
    expect(await chat({ model: 'new-7' })).to.have.property('status', 200);
    expect(await chat({ model: 'new-7', messages: [{ role: 'user', content: 'Short.' }] })).to.have.property(
      'status',
      200,
    );
    expect(sent(pair, 'max_tokens')).to.deep.equal([128_000, 80_000, 128_000]);
  });

  it('keeps no cap that a caller has had its refusal name: only one that then was taken', async () => {
    await start({});
    const field = 'max_tokens: 128000 > 1';
    pair.simulator.faults.push(
      `400 times=2 on=generate message=${JSON.stringify(`${field}: Extra inputs are not permitted`)}`,
    );
    expect(await chat({ model: 'new-7', [field]: true })).to.have.property('status', 400);
    expect(await chat({ model: 'new-7', max_tokens: 500 })).to.have.property('status', 200);
    expect(sent(pair, 'max_tokens')).to.deep.equal([128_000, 1, 500]);
  });

  it('is not asked again for any other refusal', async () => {
    await start({});
    pair.simulator.faults.push('400');
    expect(await chat({ model: 'new-7' })).to.have.property('status', 400);
    expect(sent(pair, 'max_tokens')).to.deep.equal([128_000]);
  });

  describe('is asked once more with the kind of thinking that it takes', () => {
    const adaptive = { type: 'adaptive' };
    for (const [kind, thinking, output] of [
      ['budget', { type: 'enabled', budget_tokens: 12_288 }, undefined],
      ['none', undefined, undefined],
    ] as const)
      it(`where that is ${kind}, which holds from then on`, async () => {
        await start({ 'new-7': { thinking: kind } });
        for (const _ of [1, 2])
          expect(await chat({ model: 'new-7', reasoning_effort: 'medium' })).to.have.property('status', 200);
        expect(sent(pair, 'thinking')).to.deep.equal([adaptive, thinking, thinking]);
        expect(sent(pair, 'output_config')).to.deep.equal([{ effort: 'medium' }, output, output]);
      });

    it('for Responses', async () => {
      await start({ 'new-7': { thinking: 'budget', maxTokens: 8000 } });
      const body = { model: 'new-7', input: 'Hello!', reasoning: { effort: 'low', summary: 'auto' } };
      for (const _ of [1, 2]) expect(await pair.post('/v1/responses', body)).to.have.property('status', 200);
      expect(sent(pair, 'max_tokens')).to.deep.equal([128_000, 8000, 8000, 8000]);
      expect(lastCall(pair.simulator)).to.deep.include({
        max_tokens: 8000,
        thinking: { type: 'enabled', budget_tokens: 2000, display: 'summarized' },
      });
    });

    it('and with a budget that leaves room for the answer, though its cap was named first', async () => {
      await start({ 'new-7': { thinking: 'budget', maxTokens: 32_000 } });
      const first = await chat({ model: 'new-7', reasoning_effort: 'xhigh' });
      expect([first.status, first.headers.get('x-gw-attempts')]).to.deep.equal([200, '3']);
      expect(lastCall(pair.simulator)).to.deep.include({
        max_tokens: 32_000,
        thinking: { type: 'enabled', budget_tokens: 24_000 },
      });
    });

    it('which does not hold for others where the refusal is about that one request', async () => {
      await start({});
      const message = 'thinking is not supported when the response is prefilled';
      pair.simulator.faults.push(`400 times=1 on=generate message=${JSON.stringify(message)}`);
      for (const _ of [1, 2])
        expect(await chat({ model: 'new-7', reasoning_effort: 'low' })).to.have.property('status', 200);
      expect(sent(pair, 'thinking')).to.deep.equal([adaptive, undefined, adaptive]);
    });

    it('but not where the caller has chosen it', async () => {
      await start({ 'new-7': { thinking: 'budget' } });
      const response = await pair.post('/v1/messages', ask('Hello!', { model: 'new-7', thinking: adaptive }));
      expect(await errorIn(response)).to.include({
        status: 400,
        message: 'adaptive thinking is not supported on this model',
      });
      expect(callsTo(pair.simulator)).to.have.length(1);
    });
  });

  it('of the catalog is asked once more, too, where the catalog is wrong about it', async () => {
    await start({
      'sonnet-5': { maxTokens: 32_000, thinking: 'budget' },
      'haiku-5': { thinking: 'adaptive' },
    });
    expect(await chat({ model: 'sonnet-5', reasoning_effort: 'low' })).to.have.property('status', 200);
    expect(lastCall(pair.simulator)).to.deep.include({
      max_tokens: 32_000,
      thinking: { type: 'enabled', budget_tokens: 4096 },
    });
    expect(await chat({ model: 'haiku-5', reasoning_effort: 'low' })).to.have.property('status', 200);
    expect(lastCall(pair.simulator)).to.deep.include({
      thinking: adaptiveOnly,
      output_config: { effort: 'low' },
    });
  });
});

const adaptiveOnly = { type: 'adaptive' };

describe('the vendor’s longer name of a model', () => {
  let pair: Pair;
  before(
    async () =>
      void (pair = await startPair({}, {}, (url) => [slotAt(url, { models: ['sonnet-5', 'sonnet-5-5'] })])),
  );
  after(() => pair.close());

  const forced = {
    tools: [{ name: 'look', input_schema: { type: 'object' } }],
    tool_choice: { type: 'tool', name: 'look' },
  };

  for (const [name, choice] of [
    ['claude-sonnet-5', 'tool'],
    ['claude-sonnet-5-20260101', 'tool'],
    ['claude-sonnet-5@20260101', 'tool'],
    ['claude-sonnet-5-latest', 'tool'],
    ['sonnet-5-20260101', 'tool'],
    ['claude-sonnet-5-5', 'auto'],
    ['claude-sonnet-5-5-20260101', 'auto'],
  ] as const)
    it(`${name} goes up as written, by the rules of its catalog entry`, async () => {
      const response = await pair.post('/v1/messages', ask('Hello!', { model: name, ...forced }));
      expect(((await response.json()) as { model: string }).model).to.equal(name);
      const { model, tool_choice } = lastCall(pair.simulator) as {
        model: string;
        tool_choice: { type: string };
      };
      expect([model, tool_choice.type]).to.deep.equal([name, choice]);
    });

  for (const name of [
    'claude-sonnet-5-6',
    'claude-sonnet',
    'claude-sonnet-5-2026',
    'claude-claude-sonnet-5',
    'my-sonnet-5',
  ])
    it(`is not ${name}`, async () => {
      expect(await pair.post('/v1/messages', ask('Hello!', { model: name }))).to.have.property('status', 404);
    });

  it('is what a key may use that may use the model', async () => {
    const { key } = await issue(pair, { name: 'one', models: ['sonnet-5'] });
    const as = (model: string) => pair.post('/v1/messages', ask('Hello!', { model }), { 'x-api-key': key });
    expect(await as('claude-sonnet-5-20260101')).to.have.property('status', 200);
    expect(await as('claude-sonnet-5-5')).to.have.property('status', 403);
    const other = await issue(pair, { name: 'two', models: ['claude-sonnet-*'] });
    const response = await pair.post('/v1/messages', ask('Hello!', { model: 'claude-sonnet-5' }), {
      'x-api-key': other.key,
    });
    expect(response.status).to.equal(200);
  });

  it('is found in the list of models', async () => {
    const response = await pair.get('/v1/models/claude-sonnet-5-5-20260101');
    expect(await response.json()).to.include({ id: 'sonnet-5-5' });
  });
});

async function issue(pair: Pair, key: object): Promise<{ readonly key: string }> {
  const response = await pair.post('/api/panel/keys', key);
  return (await response.json()) as { key: string };
}

describe('what an upstream lists of its models', () => {
  let pair: Pair;
  afterEach(() => pair.close());

  const models = {
    'claude-new-7-20260101': { maxTokens: 64_000, thinking: 'budget' },
    'haiku-5': { maxTokens: 100 },
  } as const;
  const chat = async (fields: object) => {
    const response = await pair.post('/v1/chat/completions', { ...hello, ...fields });
    await response.text();
    return response;
  };
  const listings = () => pair.simulator.requests.filter(({ path }) => path === '/v1/models');

  /** Asks for a model that the catalog lacks, and waits until what is listed of it is known. */
  const learn = async () => {
    await chat({ model: 'unlisted' });
    await eventually(() => pair.gateway.runtime.models.profile('claude-new-7').maxTokens === 64_000);
  };

  it('holds once a model was asked for that the catalog lacks', async () => {
    pair = await startPair({}, { models });
    await learn();
    for (const model of ['claude-new-7', 'claude-new-7-20260101', 'claude-new-7-latest'])
      expect(await chat({ model, reasoning_effort: 'low' })).to.have.property('status', 200);
    expect(sent(pair, 'max_tokens')).to.deep.equal([128_000, 64_000, 64_000, 64_000]);
    expect(sent(pair, 'thinking').slice(1)).to.deep.equal(
      Array.from({ length: 3 }, () => ({ type: 'enabled', budget_tokens: 4096 })),
    );
    const lowered = await chat({ model: 'claude-new-7', max_tokens: 100_000 });
    expect([lowered.status, lastCall(pair.simulator)['max_tokens']]).to.deep.equal([200, 64_000]);
  });

  it('says nothing of what the catalog has', async () => {
    pair = await startPair({}, { models });
    await learn();
    expect(pair.gateway.runtime.models.profile('haiku-5').maxTokens).to.equal(64_000);
  });

  it('is asked with the credential and the headers of the slot, once', async () => {
    const slots = (url: string) => [slotAt(url, { headers: { 'x-extra': '1' } })];
    pair = await startPair({}, { models }, slots);
    await chat({ model: 'sonnet-5' });
    expect(listings()).to.deep.equal([]);
    await learn();
    expect(listings()[0]!.headers).to.include({ 'x-api-key': 'upstream-key-a', 'x-extra': '1' });
    for (const _ of [1, 2, 3]) await chat({ model: 'claude-new-7' });
    expect(listings()).to.have.length(1);
  });

  it('is not asked of slots that serve the catalog alone, nor of those that have no list', async () => {
    const slots = (url: string) => [
      slotAt(url, { models: ['sonnet-5'] }),
      { id: 'b', upstream: 'simulator' },
    ];
    pair = await startPair({}, { models }, slots);
    for (const model of ['sonnet-5', 'claude-new-7'])
      expect(await chat({ model })).to.have.property('status', 200);
    expect(listings()).to.deep.equal([]);
  });

  for (const fault of [
    'hang on=models',
    '401 on=models',
    '500 on=models',
    'html on=models',
    'reset on=models',
  ])
    it(`is waited for by no request, and changes nothing where it fails: ${fault}`, async () => {
      const simulator = await startSimulator({ models });
      simulator.faults.push(fault);
      const under = await startGateway({ slots: [slotAt(simulator.url)] });
      pair = { ...under, simulator, close: () => under.close().then(() => simulator.close()) };
      expect(await chat({ model: 'claude-new-7-20260101' })).to.have.property('status', 200);
      expect(sent(pair, 'max_tokens')).to.deep.equal([128_000, 64_000]);
      await eventually(() => listings().length === 1);
      expect(pair.gateway.services.slots.list()[0]).to.include({ state: 'ready', lastError: null });
      expect(pair.logged.filter(({ level }) => level === 'warn' || level === 'error')).to.deep.equal([]);
    });
});
