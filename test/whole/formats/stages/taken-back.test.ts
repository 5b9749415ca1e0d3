import { expect } from 'chai';
import { startBedrock, type BedrockServer } from '../../../support/bedrock-server.js';
import { ask, startGateway, startPair, type GatewayUnderTest, type Pair } from '../../harness.js';
import { lastCall } from '../../kit.js';

const profile = 'us.anthropic.claude-sonnet-5-v1:0';

/** Stages of the shipped config that add to a request. */
const adding = ['persona-inject', 'web-search-tool', 'tool-choice', 'max-tokens', 'cache-ttl'];

const pipeline = [
  'auth',
  'body-limit',
  'format-decode',
  ...adding,
  'slot-pick',
  'upstream-call',
  'usage-mask',
];

describe('what the gateway adds, over Bedrock', () => {
  let bedrock: BedrockServer;
  let gateway: GatewayUnderTest;

  beforeEach(async () => {
    bedrock = await startBedrock();
    gateway = await startGateway({
      pipeline: [...pipeline, 'format-encode'].map((use) => ({ use })),
      slots: [
        {
          id: 'bedrock',
          upstream: 'bedrock',
          baseUrl: bedrock.url,
          account: { kind: 'bearer', token: 'k' },
          models: { 'sonnet-5': profile, '*': true },
        },
      ],
    });
  });
  afterEach(async () => {
    await gateway.close();
    await bedrock.close();
  });

  function refuseAll(pattern: RegExp, message: string): void {
    bedrock.intercept = ({ text }) =>
      pattern.test(text)
        ? {
            status: 400,
            headers: { 'x-amzn-errortype': 'ValidationException' },
            body: JSON.stringify({ message }),
          }
        : undefined;
  }

  it('is no server tool, so that the first request of the default pipeline is answered', async () => {
    refuseAll(/"web_search/, 'The provided request is not valid');
    const response = await gateway.post('/v1/messages', ask('hi'));
    expect([response.status, response.headers.get('x-gw-attempts')]).to.deep.equal([200, '1']);
    expect(response.headers.get('x-gw-dropped')).to.equal(null);
    const counted = await gateway.post('/v1/messages/count_tokens', ask('hi', { max_tokens: undefined }));
    expect(counted.status).to.equal(200);
  });

  it('is a ttl only as long as that is taken', async () => {
    refuseAll(
      /"ttl"/,
      'messages.0.content.0.text.cache_control.ephemeral.ttl: Extra inputs are not permitted',
    );
    const content = [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }];
    const body = { model: 'sonnet-5', max_tokens: 9, messages: [{ role: 'user', content }] };
    const first = await gateway.post('/v1/messages', body);
    expect([first.status, first.headers.get('x-gw-attempts')]).to.deep.equal([200, '2']);
    const second = await gateway.post('/v1/chat/completions', {
      model: 'sonnet-5',
      messages: [{ role: 'user', content: 'hi' }],
    });
    expect([second.status, second.headers.get('x-gw-attempts')]).to.deep.equal([200, '1']);
    const own = await gateway.post('/v1/messages', {
      ...body,
      messages: [
        { role: 'user', content: [{ ...content[0], cache_control: { type: 'ephemeral', ttl: '1h' } }] },
      ],
    });
    expect([own.status, own.headers.get('x-gw-attempts')]).to.deep.equal([400, '1']);
    const metrics = await (await gateway.get('/metrics')).text();
    expect(metrics).to.include('gw2api_taken_back_total{part="cache_control.ttl",slot="bedrock"} 1');
  });

  it('leaves out the scope of a marker with its flag, both reported', async () => {
    refuseAll(/"scope"/, 'system.0.cache_control.ephemeral.scope: Extra inputs are not permitted');
    const system = [{ type: 'text', text: 'S', cache_control: { type: 'ephemeral', scope: 'global' } }];
    const headers = { 'anthropic-beta': 'prompt-caching-scope-2026-01-05' };
    const response = await gateway.post('/v1/messages', ask('hi', { system }), headers);
    expect(response.status).to.equal(200);
    expect(response.headers.get('x-gw-dropped')).to.include(
      'anthropic-beta: prompt-caching-scope-2026-01-05',
    );
    expect(response.headers.get('x-gw-dropped')).to.match(/system\[\d\]\.cache_control\.scope/);
  });

  it('sends the marker of the whole request on its last block', async () => {
    await gateway.post('/v1/messages', ask('hi', { cache_control: { type: 'ephemeral' } }));
    const { body } = bedrock.requests.at(-1)!;
    expect(body).to.not.have.property('cache_control');
    expect(JSON.stringify(body['messages'])).to.include('"cache_control":{"type":"ephemeral","ttl":"1h"}');
  });
});

describe('what a Messages service does not take', () => {
  let pair: Pair;
  beforeEach(async () => void (pair = await startPair()));
  afterEach(() => pair.close());

  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  const form = { type: 'json_schema', json_schema: { name: 'answer', schema } };
  const chat = (fields: object) =>
    pair.post('/v1/chat/completions', {
      model: 'sonnet-5',
      messages: [{ role: 'user', content: 'Hi.' }],
      ...fields,
    });

  async function twice(message: string, fields: object): Promise<readonly (string | null)[]> {
    pair.simulator.faults.push(`400 times=1 on=generate message=${JSON.stringify(message)}`);
    const answers = [await chat(fields), await chat(fields)];
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(answers.map(({ headers }) => headers.get('x-gw-attempts'))).to.deep.equal(['2', '1']);
    return answers.map(({ headers }) => headers.get('x-gw-dropped'));
  }

  it('is asked for in words where it is the form of the answer, from then on', async () => {
    const dropped = await twice('output_config: Extra inputs are not permitted', { response_format: form });
    expect(dropped).to.deep.equal(['response_format', 'response_format']);
    const { output_config, system } = lastCall(pair.simulator);
    expect(output_config).to.equal(undefined);
    expect(JSON.stringify(system)).to.include('one valid JSON object');
  });

  it('stands in the text of the user where it is system text, the persona too', async () => {
    expect(await twice('system: Extra inputs are not permitted', {})).to.deep.equal([null, null]);
    const { messages, system } = lastCall(pair.simulator);
    expect(system).to.equal(undefined);
    expect(JSON.stringify(messages)).to.match(/careful and helpful assistant.*Hi\./);
  });
});

describe('what the built-in simulator refuses', () => {
  it('is taken back, too', async () => {
    const gateway = await startGateway({ slots: [{ id: 'a', upstream: 'simulator' }] });
    const refusing = '[[sim:400 message="max_tokens: 128000 > 64"]]';
    const response = await gateway.post('/v1/messages', ask(refusing, { max_tokens: undefined }));
    expect([response.status, response.headers.get('x-gw-attempts')]).to.deep.equal([400, '2']);
    await gateway.close();
  });
});
