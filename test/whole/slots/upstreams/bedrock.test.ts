import { expect } from 'chai';
import { startBedrock, type BedrockServer } from '../../../support/bedrock-server.js';
import { errorIn, stateOf } from '../../kit.js';
import { ask, eventsIn, startGateway, type GatewayUnderTest } from '../../harness.js';

const profile = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';

describe('a slot over Bedrock', () => {
  let bedrock: BedrockServer;
  let gateway: GatewayUnderTest;

  beforeEach(async () => {
    bedrock = await startBedrock();
    gateway = await startGateway({ slots: [slotOver(bedrock)] });
  });
  afterEach(async () => {
    await gateway.close();
    await bedrock.close();
  });

  const tool = {
    name: 'weather',
    description: 'The weather.',
    input_schema: { type: 'object', properties: {} },
  };

  it('answers Messages, whole and streamed, with thinking and tools', async () => {
    const whole = await gateway.post(
      '/v1/messages',
      ask('[[sim:thinking]] [[sim:tool name=weather]]', { tools: [tool] }),
    );
    const message = (await whole.json()) as { content: { type: string }[]; stop_reason: string };
    expect(message.stop_reason).to.equal('tool_use');
    expect(message.content.map(({ type }) => type)).to.include('tool_use');
    const streamed = await gateway.post(
      '/v1/messages',
      ask('[[sim:tool name=weather]]', { tools: [tool], stream: true }),
    );
    const types = eventsIn(await streamed.text()).map((event) => (event as { type: string }).type);
    expect(types[0]).to.equal('message_start');
    expect(types.at(-1)).to.equal('message_stop');
    expect(types).to.include('content_block_delta');
  });

  it('answers Chat Completions, whole and streamed, with tools', async () => {
    const body = {
      model: 'sonnet-5',
      messages: [{ role: 'user', content: '[[sim:tool name=weather]]' }],
      tools: [
        { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } },
      ],
    };
    const whole = await gateway.post('/v1/chat/completions', body);
    const { choices } = (await whole.json()) as {
      choices: { message: { tool_calls: object[] }; finish_reason: string }[];
    };
    expect(choices[0]?.finish_reason).to.equal('tool_calls');
    expect(choices[0]?.message.tool_calls).to.have.length(1);
    const streamed = await gateway.post('/v1/chat/completions', { ...body, stream: true });
    expect(eventsIn(await streamed.text()).at(-1)).to.equal('[DONE]');
  });

  it('answers Responses, whole and streamed, with tools', async () => {
    const body = {
      model: 'sonnet-5',
      input: '[[sim:tool name=weather]]',
      tools: [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }],
    };
    const whole = await gateway.post('/v1/responses', body);
    const { output } = (await whole.json()) as { output: { type: string }[] };
    expect(output.map(({ type }) => type)).to.include('function_call');
    const streamed = await gateway.post('/v1/responses', { ...body, stream: true });
    const types = eventsIn(await streamed.text()).map((event) => (event as { type?: string }).type);
    expect(types).to.include('response.completed');
  });

  it('asks for the model by its path, and streams always', async () => {
    await gateway.post('/v1/messages?beta=true', ask('hi'));
    const [{ path, body, headers }] = bedrock.requests as [(typeof bedrock.requests)[0]];
    expect(path).to.equal(`/model/${profile}/invoke-with-response-stream`);
    expect(body).to.include({ anthropic_version: 'bedrock-2023-05-31' });
    expect(body).to.not.have.any.keys('model', 'stream');
    expect(headers['authorization']).to.match(
      /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/us-east-1\/bedrock\//,
    );
    expect(headers).to.not.have.any.keys('anthropic-version', 'x-api-key');
  });

  it('reports the beta flags that Bedrock would refuse, and passes the others on', async () => {
    const headers = { 'anthropic-beta': 'context-1m-2025-08-07,prompt-caching-2024-07-31' };
    const response = await gateway.post('/v1/messages', ask('hi'), headers);
    expect(response.status).to.equal(200);
    expect(response.headers.get('x-gw-dropped')).to.equal('anthropic-beta: prompt-caching-2024-07-31');
    expect(bedrock.requests[0]?.body['anthropic_beta']).to.deep.equal(['context-1m-2025-08-07']);
  });

  it('names the request as Bedrock does', async () => {
    const response = await gateway.post('/v1/messages', ask('hi'));
    expect(response.headers.get('request-id')).to.match(/^req_/);
  });

  it('counts tokens by the model itself, without its region', async () => {
    const response = await gateway.post('/v1/messages/count_tokens', ask('hi', { max_tokens: undefined }));
    expect(await response.json())
      .to.have.property('input_tokens')
      .that.is.above(0);
    expect(bedrock.requests[0]?.path).to.equal(
      '/model/anthropic.claude-sonnet-4-5-20250929-v1:0/count-tokens',
    );
  });

  for (const [status, name, message] of [
    [400, 'ValidationException', "The provided model doesn't support counting tokens."],
    [403, 'AccessDeniedException', 'User is not authorized to perform: bedrock:CountTokens'],
  ] as const)
    it(`estimates the count where Bedrock says: ${message}`, async () => {
      const headers = { 'x-amzn-errortype': `${name}:` };
      bedrock.intercept = () => ({ status, headers, body: JSON.stringify({ message }) });
      const response = await gateway.post('/v1/messages/count_tokens', ask('hi'));
      expect(response.status).to.equal(200);
      expect(Object(await response.json()).input_tokens).to.be.above(0);
    });

  it('refuses a count for wrong keys, and estimates none', async () => {
    const headers = { 'x-amzn-errortype': 'UnrecognizedClientException:' };
    bedrock.intercept = () => ({ status: 403, headers, body: '{"message":"No."}' });
    const response = await gateway.post('/v1/messages/count_tokens', ask('hi'));
    expect(await errorIn(response)).to.include({ status: 503, code: 'no_slot_available' });
  });

  for (const [fault, cooled] of Object.entries({
    rate_limit_error: 'rate_limited',
    overloaded_error: 'overloaded',
  }))
    it(`cools down as ${cooled} after an exception frame in place of content`, async () => {
      const response = await gateway.post(
        '/v1/messages',
        ask(`[[sim:error after=1 type=${fault} message=Later]]`),
      );
      const { type, message } = await errorIn(response);
      expect([type, message]).to.deep.equal([fault, 'Later']);
      const [slot] = gateway.gateway.services.slots.list();
      expect(slot?.models.map(({ reason }) => reason)).to.deep.equal([cooled]);
    });

  it('ends a stream with an error event for an exception in the middle', async () => {
    const body = ask('[[sim:tokens n=50]] [[sim:error after=5 type=invalid_request_error message=Bad]]', {
      stream: true,
    });
    const response = await gateway.post('/v1/messages', body);
    const last = eventsIn(await response.text()).at(-1);
    expect(last).to.have.nested.property('error.type', 'invalid_request_error');
    expect(last).to.have.nested.property('error.message', 'Bad');
  });

  for (const fault of ['cut', 'end'])
    it(`ends a stream with an error event where the frames ${fault} before the end`, async () => {
      const body = ask(`[[sim:tokens n=50]] [[sim:${fault} after=5]]`, { stream: true });
      const response = await gateway.post('/v1/messages', body);
      const last = eventsIn(await response.text()).at(-1) as { type: string };
      expect(last.type).to.equal('error');
    });

  it('passes a refusal on with the name of its exception, and its retry-after', async () => {
    const response = await gateway.post('/v1/messages', ask('[[sim:429 retry-after=7]]'));
    expect(response.headers.get('retry-after')).to.equal('7');
    const { status, type, code } = await errorIn(response);
    expect([status, type, code]).to.deep.equal([429, 'rate_limit_error', 'ThrottlingException']);
  });

  const refusals = [
    { name: 'ModelNotReadyException', status: 429, shown: [503, 'overloaded_error'], state: 'ready' },
    { name: 'ModelErrorException', status: 424, shown: [500, 'api_error'], state: 'ready' },
    { name: 'AccessDeniedException', status: 403, shown: [403, 'permission_error'], state: 'ready' },
    { name: 'ValidationException', status: 400, shown: [400, 'invalid_request_error'], state: 'ready' },
    {
      name: 'UnrecognizedClientException',
      status: 403,
      shown: [503, 'overloaded_error'],
      code: 'no_slot_available',
      state: 'rejected',
    },
  ];
  for (const { name, status, shown, state, code = name } of refusals)
    it(`shows a ${name} as ${shown.join(' ')}, and its slot is ${state}`, async () => {
      bedrock.intercept = () => ({
        status,
        headers: { 'x-amzn-errortype': `${name}:http://x` },
        body: '{"Message":"No."}',
      });
      const error = await errorIn(await gateway.post('/v1/messages', ask('hi')));
      expect([error.status, error.type]).to.deep.equal(shown);
      expect(error.code).to.equal(code);
      expect(stateOf(gateway, 'bedrock')).to.equal(state);
    });

  it('is rejected for a refused API key, which is a 403 like a missing permission', async () => {
    const message = 'Authentication failed: Please make sure your API Key is valid.';
    bedrock.intercept = () => ({ status: 403, body: JSON.stringify({ Message: message }) });
    const error = await errorIn(await gateway.post('/v1/messages', ask('hi')));
    expect(error).to.include({ status: 503, code: 'no_slot_available' });
    expect(stateOf(gateway, 'bedrock')).to.equal('rejected');
  });

  it('does not take a page for an answer', async () => {
    const error = await errorIn(await gateway.post('/v1/messages', ask('[[sim:html]]')));
    expect(error.code).to.equal('upstream_invalid_response');
  });

  it('refuses a model that leads elsewhere, without a call', async () => {
    const response = await gateway.post('/v1/messages', ask('hi', { model: '..' }));
    expect((await errorIn(response)).code).to.equal('model_not_found');
    expect(bedrock.requests).to.deep.equal([]);
  });
});

function slotOver({ url }: BedrockServer): object {
  return {
    id: 'bedrock',
    upstream: 'bedrock',
    baseUrl: url,
    account: { kind: 'aws-sigv4', region: 'us-east-1', accessKeyId: 'AKID', secretAccessKey: 'secret' },
    models: { 'sonnet-5': profile, '*': true },
  };
}
