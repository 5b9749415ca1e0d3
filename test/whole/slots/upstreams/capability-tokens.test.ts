import { expect } from 'chai';
import { ask, startGateway, type GatewayUnderTest } from '../../harness.js';
import { errorIn } from '../../kit.js';
import { scripted, type ScriptedUpstream } from '../../scripted-upstream.js';

interface Cloud {
  readonly slot: object;
  /** Refusal with these words, in the envelope of the cloud. */
  readonly refusal: (message: string) => object;
  readonly headers?: Readonly<Record<string, string>>;
}

const bearer = { kind: 'bearer', token: 'cloud-token' };

const clouds: Readonly<Record<string, Cloud>> = {
  bedrock: {
    slot: { upstream: 'bedrock', account: bearer },
    refusal: (message) => ({ message }),
    headers: { 'x-amzn-errortype': 'ValidationException:http://internal.amazon.com/' },
  },
  vertex: {
    slot: { upstream: 'vertex', with: { project: 'p' }, account: bearer },
    refusal: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
  },
  foundry: {
    slot: { upstream: 'messages', account: { kind: 'api-key', key: 'foundry-key' } },
    refusal: (message) => ({ error: { code: 'BadRequest', message } }),
  },
};

describe('a refusal in the words of a cloud', () => {
  let upstream: ScriptedUpstream | undefined;
  let gateway: GatewayUnderTest | undefined;
  afterEach(async () => {
    await gateway?.close();
    await upstream?.close();
  });

  async function refusedBy({ slot, refusal, headers }: Cloud, message: string): Promise<GatewayUnderTest> {
    upstream = await scripted((_, response) => {
      response.writeHead(400, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(refusal(message)));
    });
    gateway = await startGateway({ slots: [{ id: 'cloud', baseUrl: upstream.url, ...slot }] });
    return gateway;
  }

  for (const [name, cloud] of Object.entries(clouds))
    it(`has the token by which Claude Code shortens the conversation (${name})`, async () => {
      const under = await refusedBy(cloud, 'Input is too long for requested model.');
      const error = await errorIn(await under.post('/v1/messages', ask('Hi')));
      expect(error).to.deep.include({
        status: 400,
        type: 'invalid_request_error',
        message: 'Input is too long for requested model. (capability_rejected: prompt_too_long)',
      });
    });

  it('has it for callers of Messages alone', async () => {
    const under = await refusedBy(clouds['bedrock']!, 'Input is too long for requested model.');
    for (const [path, body] of [
      ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }],
      ['/v1/responses', { input: 'Hi' }],
    ] as const) {
      const error = await errorIn(await under.post(path, { model: 'sonnet-5', ...body }));
      expect(error.message).to.equal('Input is too long for requested model.');
    }
  });

  it('has none in the envelope of the Messages API, whose words clients know', async () => {
    const cloud = {
      ...clouds['foundry']!,
      refusal: (message: string) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
    };
    const words = 'prompt is too long: 201234 tokens > 200000 maximum';
    const error = await errorIn(await (await refusedBy(cloud, words)).post('/v1/messages', ask('Hi')));
    expect(error.message).to.equal(words);
  });
});
