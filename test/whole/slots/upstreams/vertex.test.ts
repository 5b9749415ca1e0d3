import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { openGateway } from '#src/features/open.js';
import { DryGateway } from '#src/features/dry-run/dry-gateway.js';
import { loadGatewayConfig } from '#src/gateway/load-config.js';
import { Kit } from '../../../engine/transport/upstream-kit.js';
import {
  ask,
  configOf,
  stages,
  startGateway,
  startPair,
  type GatewayUnderTest,
  type Pair,
} from '../../harness.js';
import { errorIn, only } from '../../kit.js';
import { anthropicAt, openaiAt } from '../../clients/sdk-clients.js';

const project = { project: 'test-project', region: 'us-east5' };
const root = '/v1/projects/test-project/locations/us-east5/publishers/anthropic/models';

const vertexSlot = (id: string, baseUrl: string, further: object = {}): object => ({
  id,
  upstream: 'vertex',
  baseUrl,
  with: project,
  account: { kind: 'api-key', key: `upstream-key-${id}`, header: 'authorization' },
  models: { 'sonnet-5': 'claude-sonnet-5@20260101', '*': true },
  ...further,
});

describe('slots of Vertex AI', () => {
  let team: Pair;
  beforeEach(async () => {
    const pipeline = stages({ with: { 'slot-pick': { policy: 'priority' } } });
    team = await startPair({ pipeline }, {}, (url) => [
      vertexSlot('a', `${url}/v1`),
      vertexSlot('b', `${url}/v1`),
    ]);
  });
  afterEach(() => team.close());

  const paths = () =>
    team.simulator.requests.map(({ path }) => path).filter((path) => !path.includes('count-tokens'));

  it('answer the clients of three formats, whole and streamed, tools included', async () => {
    const [anthropic, openai] = [anthropicAt(team), openaiAt(team)];
    const messages = [{ role: 'user' as const, content: 'Hello!' }];
    const whole = await anthropic.messages.create({ model: 'sonnet-5', max_tokens: 500, messages });
    expect(whole).to.deep.include({ model: 'sonnet-5', stop_reason: 'end_turn' });
    const streamed = await anthropic.messages
      .stream({ model: 'sonnet-5', max_tokens: 500, messages })
      .finalText();
    expect(streamed).to.equal(
      whole.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    );
    const chat = await openai.chat.completions.create({
      model: 'sonnet-5',
      messages: [{ role: 'user', content: '[[sim:tool]] What is the weather?' }],
      tools: [
        { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } },
      ],
    });
    expect(chat.choices[0]!.finish_reason).to.equal('tool_calls');
    expect(chat.choices[0]!.message.tool_calls).to.have.length.above(0);
    const response = await openai.responses.create({ model: 'sonnet-5', input: 'Hello!' });
    expect(response).to.include({ model: 'sonnet-5', status: 'completed' });
    expect(response.output_text).to.have.length.above(0);
    expect(new Set(paths())).to.deep.equal(new Set([`${root}/claude-sonnet-5@20260101:streamRawPredict`]));
  });

  for (const fault of [
    '429',
    '500',
    '503',
    '529',
    'reset',
    'html',
    'cut after=3',
    'error after=1',
    'end after=1',
  ])
    it(`move on to another slot after "${fault}" before the first content`, async () => {
      team.simulator.faults.push(only('a', fault));
      const response = await team.post('/v1/messages', ask('Hello!', { stream: true }));
      expect(response.status).to.equal(200);
      expect(response.headers.get('x-gw-slot')).to.equal('b');
      expect(await response.text()).to.include('message_stop');
    });

  it('count tokens', async () => {
    const { max_tokens: _, ...counted } = ask('Hello!') as Record<string, unknown>;
    const response = await team.post('/v1/messages/count_tokens', counted);
    expect(await response.json())
      .to.have.property('input_tokens')
      .that.is.above(0);
    const count = team.simulator.requests.find(({ path }) => path.endsWith('count-tokens:rawPredict'));
    expect(JSON.parse(count!.text)).to.include({
      model: 'claude-sonnet-5@20260101',
      anthropic_version: 'vertex-2023-10-16',
    });
  });
});

describe('a slot of Vertex AI whose upstream answers with errors of Google', () => {
  const kit = new Kit();
  let gateway: GatewayUnderTest;
  let answer: { status: number; body: unknown };
  let asked: IncomingMessage[];
  beforeEach(async () => {
    asked = [];
    const url = await kit.serve((request: IncomingMessage, response: ServerResponse) => {
      asked.push(request);
      response
        .writeHead(answer.status, { 'content-type': 'application/json' })
        .end(JSON.stringify(answer.body));
    });
    gateway = await startGateway({ slots: [vertexSlot('a', `${url}/v1`)] });
  });
  afterEach(async () => {
    await gateway.close();
    await kit.close();
  });

  const error = (code: number, status: string, details: readonly object[] = []) => ({
    error: { code, message: `Something is ${status}.`, status, details },
  });
  const stateOf = () => gateway.gateway.services.slots.list()[0]!;

  const cases: readonly [code: number, name: string, expected: object, state: object][] = [
    [400, 'INVALID_ARGUMENT', { status: 400, type: 'invalid_request_error' }, { state: 'ready' }],
    [401, 'UNAUTHENTICATED', { status: 503, code: 'no_slot_available' }, { state: 'rejected' }],
    [403, 'PERMISSION_DENIED', { status: 403, type: 'permission_error' }, { state: 'ready' }],
    [404, 'NOT_FOUND', { status: 404, type: 'not_found_error' }, { state: 'ready' }],
    [
      429,
      'RESOURCE_EXHAUSTED',
      { status: 429, type: 'rate_limit_error' },
      { lastError: 'Something is RESOURCE_EXHAUSTED.' },
    ],
    [
      503,
      'UNAVAILABLE',
      { status: 503, type: 'overloaded_error' },
      { lastError: 'Something is UNAVAILABLE.' },
    ],
  ];
  for (const [code, name, expected, state] of cases)
    for (const list of [false, true])
      it(`says what ${name} is${list ? ', from a list' : ''}`, async () => {
        answer = { status: code, body: list ? [error(code, name)] : error(code, name) };
        const refused = await errorIn(await gateway.post('/v1/messages', ask('Hello!')));
        expect(refused).to.deep.include(expected);
        expect(stateOf()).to.deep.include(state);
      });

  it('says so where the error has status 200', async () => {
    answer = { status: 200, body: [error(429, 'RESOURCE_EXHAUSTED')] };
    expect(await errorIn(await gateway.post('/v1/messages', ask('Hello!')))).to.include({ status: 429 });
  });

  it('waits as long as Google says', async () => {
    const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '6.5s' };
    answer = { status: 429, body: error(429, 'RESOURCE_EXHAUSTED', [retry]) };
    const response = await gateway.post('/v1/messages', ask('Hello!'));
    expect(response.headers.get('retry-after')).to.equal('7');
  });

  it('estimates where the region counts no tokens, and refuses a model that is not there', async () => {
    const count = async () => {
      const { max_tokens: _, ...counted } = ask('Hello!') as Record<string, unknown>;
      return gateway.post('/v1/messages/count_tokens', counted);
    };
    answer = {
      status: 404,
      body: { error: { code: 404, message: 'Publisher Model count-tokens was not found.' } },
    };
    expect(await (await count()).json())
      .to.have.property('input_tokens')
      .that.is.above(0);
    answer = {
      status: 404,
      body: { error: { code: 404, message: 'Publisher Model claude-x was not found.' } },
    };
    expect((await count()).status).to.equal(404);
  });

  it('is diagnosed by a count of nothing, which costs nothing', async () => {
    const diagnose = async () => {
      const response = await fetch(`${gateway.url}/admin/slots/a/diagnose`, {
        method: 'POST',
        headers: { 'x-api-key': 'test-master-key' },
      });
      return ((await response.json()) as { steps: readonly { step: string; ok: boolean; detail: string }[] })
        .steps;
    };
    answer = { status: 400, body: error(400, 'INVALID_ARGUMENT') };
    expect((await diagnose()).at(-1)).to.deep.include({ step: 'credential', ok: true, detail: 'accepted' });
    expect(asked.at(-1)!.url).to.equal(`${root}/count-tokens:rawPredict`);
    answer = { status: 403, body: error(403, 'PERMISSION_DENIED') };
    expect((await diagnose()).at(-1)).to.deep.include({
      step: 'credential',
      ok: false,
      detail: 'Something is PERMISSION_DENIED.',
    });
  });
});

describe('the base URL of Vertex AI', () => {
  const hosts = {
    'us-east5': 'us-east5-aiplatform.googleapis.com',
    global: 'aiplatform.googleapis.com',
    us: 'aiplatform.us.rep.googleapis.com',
    eu: 'aiplatform.eu.rep.googleapis.com',
  };
  for (const [region, host] of Object.entries(hosts))
    it(`follows from its region: ${region}`, async () => {
      const { baseUrl: _, ...slot } = vertexSlot('a', '') as Record<string, unknown>;
      const gateway = await startGateway({ slots: [{ ...slot, with: { ...project, region } }] });
      expect(gateway.gateway.services.slots.get('a')!.baseUrl).to.equal(`https://${host}/v1`);
      await gateway.close();
    });

  it('needs no network in a dry run', async () => {
    const { baseUrl: _, ...slot } = vertexSlot('a', '') as Record<string, unknown>;
    const account = { kind: 'google', applicationDefault: true };
    const text = JSON.stringify(configOf({ slots: [{ ...slot, account }] }));
    const dry = await DryGateway.open(
      await loadGatewayConfig({ text, file: 'gateway.yaml', env: {} }),
      openGateway,
    );
    const [outcome] = await dry.send([{ path: '/v1/messages', body: ask('Hello!') }]);
    await dry.close();
    expect(outcome).to.include({ status: 200 });
  });
});
