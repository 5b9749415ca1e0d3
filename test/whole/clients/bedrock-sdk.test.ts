import type { IncomingHttpHeaders } from 'node:http';
import type { BetaMessageStreamParams } from '@anthropic-ai/sdk/resources/beta/messages';
import { expect } from 'chai';
import { vendorSignature, type SignerKeys } from '../../support/aws-signer.js';
import { startBedrock, type BedrockServer } from '../../support/bedrock-server.js';
import { vendorSdk, withSdks } from '../../support/vendor-sdks.js';
import { stages, startGateway, type GatewayUnderTest } from '../harness.js';
import { anthropicAt, pixel } from './sdk-clients.js';

type Params = Omit<BetaMessageStreamParams, 'stream'>;

interface VendorClient {
  readonly beta: {
    readonly messages: {
      create(params: Params & { stream: true }, options?: object): Promise<AsyncIterable<object>>;
    };
  };
}

interface BedrockSdk {
  readonly AnthropicBedrock: new (options: object) => VendorClient;
  readonly AnthropicBedrockMantle: new (options: object) => VendorClient;
}

const keys: SignerKeys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'example/secret+key' };
const temporary: SignerKeys = { ...keys, sessionToken: 'session//token==' };
const base: Params = {
  model: 'anthropic.claude-sonnet-4-6',
  max_tokens: 4000,
  messages: [{ role: 'user', content: 'hi' }],
};
const image = { type: 'base64', media_type: 'image/png', data: pixel } as const;
const tool = {
  name: 'weather',
  description: 'Grüße',
  input_schema: { type: 'object', properties: {} },
} as const;

/** The same request through the SDK and through a slot. */
const requests: Readonly<Record<string, Params>> = {
  'a short question': base,
  'a model with a region and a version': { ...base, model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0' },
  'the ARN of an inference profile': {
    ...base,
    model:
      'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  },
  'the ARN of a profile of an application': {
    ...base,
    model: 'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2c3',
  },
  'a model with characters that a path has to escape': { ...base, model: "m é+(x)*!'$&,;=@~|%2F?#" },
  'beta flags': { ...base, betas: ['context-1m-2025-08-07', 'interleaved-thinking-2025-05-14'] },
  tools: { ...base, tools: [tool], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  thinking: { ...base, thinking: { type: 'enabled', budget_tokens: 2048 } },
  'a system prompt with a marker, and an image': {
    ...base,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: image },
          { type: 'text', text: '😀\n"\\' },
        ],
      },
    ],
  },
};

describe(withSdks('a slot over Bedrock, beside the SDK of the vendor'), () => {
  const sdk = vendorSdk('@anthropic-ai/bedrock-sdk') as BedrockSdk | undefined;
  let bedrock: BedrockServer;
  let gateway: GatewayUnderTest;

  before(function () {
    if (!sdk) this.skip();
  });
  beforeEach(async () => {
    bedrock = await startBedrock();
  });
  afterEach(async () => {
    await gateway?.close();
    await bedrock?.close();
  });

  for (const [name, params] of Object.entries(requests))
    for (const [kind, own] of Object.entries({ fixed: keys, temporary }))
      it(`sends ${name} with ${kind} keys as the SDK does, and reads the same events`, async () => {
        const {
          accessKeyId: awsAccessKey,
          secretAccessKey: awsSecretKey,
          sessionToken: awsSessionToken,
        } = own;
        const client = new sdk!.AnthropicBedrock({
          baseURL: bedrock.url,
          awsRegion: 'us-east-1',
          maxRetries: 0,
          awsAccessKey,
          awsSecretKey,
          awsSessionToken,
        });
        const events = await eventsOf(client, params);
        const [theirs] = bedrock.requests;
        await bedrock.close(); // what it has cached is another answer
        bedrock = await startBedrock();
        await startOver({ kind: 'aws-sigv4', region: 'us-east-1', ...own });
        expect(await eventsOf(anthropicAt(gateway), params)).to.deep.equal(events);
        const [ours] = bedrock.requests;
        expect([ours!.method, ours!.path]).to.deep.equal([theirs!.method, theirs!.path]);
        expect(ours!.body).to.deep.equal(theirs!.body);
        expect(relevant(ours!.headers)).to.deep.equal(relevant(theirs!.headers));
        for (const { method, path, headers, text } of [theirs!, ours!]) {
          const scope = { keys: own, region: 'us-east-1', service: 'bedrock' };
          expect(await isSigned({ method, path, headers, text }, scope), 'the signature').to.equal(true);
        }
      });

  it('sends an API key of Bedrock as the SDK does', async () => {
    const options = { baseURL: bedrock.url, awsRegion: 'us-east-1', apiKey: 'bedrock-key', maxRetries: 0 };
    await eventsOf(new sdk!.AnthropicBedrock(options), base);
    await startOver({ kind: 'bearer', token: 'bedrock-key' });
    await eventsOf(anthropicAt(gateway), base);
    const [theirs, ours] = bedrock.requests;
    expect(ours!.headers['authorization']).to.equal('Bearer bedrock-key');
    expect(relevant(ours!.headers)).to.deep.equal(relevant(theirs!.headers));
    expect(ours!.body).to.deep.equal(theirs!.body);
  });

  it('sends the profile of a user in the body, as the SDK does', async () => {
    const headers = { headers: { 'anthropic-user-profile-id': 'profile_1' } };
    bedrock.intercept = () => ({ status: 400, body: '{"message":"recorded"}' });
    const options = { baseURL: bedrock.url, awsRegion: 'us-east-1', apiKey: 'bedrock-key', maxRetries: 0 };
    await eventsOf(new sdk!.AnthropicBedrock(options), base, headers).catch(() => undefined);
    await startOver({ kind: 'bearer', token: 'bedrock-key' });
    await eventsOf(anthropicAt(gateway), base, headers).catch(() => undefined);
    const [theirs, ours] = bedrock.requests;
    expect(ours!.body).to.deep.equal(theirs!.body);
    expect(relevant(ours!.headers)).to.deep.equal(relevant(theirs!.headers));
  });

  for (const [name, params] of Object.entries(requests))
    it(`sends ${name} to Mantle as the SDK does, signed`, async () => {
      const { accessKeyId: awsAccessKey, secretAccessKey: awsSecretAccessKey } = keys;
      const url = `${bedrock.url}/anthropic`;
      bedrock.intercept = () => ({ status: 400, body: '{"error":{"message":"recorded"}}' });
      const region = { baseURL: url, awsRegion: 'us-east-1', maxRetries: 0, logLevel: 'off' };
      const client = new sdk!.AnthropicBedrockMantle({ ...region, awsAccessKey, awsSecretAccessKey });
      await eventsOf(client, params).catch(() => undefined);
      const account = { kind: 'aws-sigv4', region: 'us-east-1', service: 'bedrock-mantle', ...keys };
      await startOver(account, { upstream: 'messages', baseUrl: url });
      await eventsOf(anthropicAt(gateway), params).catch(() => undefined);
      const [theirs, ours] = bedrock.requests;
      expect([ours!.method, withoutBeta(ours!.path)]).to.deep.equal([
        theirs!.method,
        withoutBeta(theirs!.path),
      ]);
      expect(ours!.body).to.deep.equal(theirs!.body);
      const apart = ['accept'];
      expect(relevant(ours!.headers, apart)).to.deep.equal(relevant(theirs!.headers, apart));
      for (const request of [theirs!, ours!])
        expect(await isSigned(request, { keys, region: 'us-east-1', service: 'bedrock-mantle' })).to.equal(
          true,
        );
    });

  async function startOver(account: object, slot: object = {}): Promise<void> {
    const bare = stages({
      without: ['persona-inject', 'web-search-tool', 'cache-ttl', 'usage-mask', 'tool-choice'],
    });
    const entry = { id: 'bedrock', upstream: 'bedrock', baseUrl: bedrock.url, account, ...slot };
    gateway = await startGateway({ pipeline: bare, slots: [entry] });
  }
});

describe('a slot over Claude Platform on AWS', () => {
  it('is a Messages slot with a signature of its service, and the workspace in a header that is signed too', async () => {
    const bedrock = await startBedrock();
    const region = 'eu-central-1';
    const service = 'aws-external-anthropic';
    const account = { kind: 'aws-sigv4', region, service, ...temporary };
    const headers = { 'anthropic-workspace-id': 'wrkspc_1' };
    const gateway = await startGateway({
      slots: [{ id: 'platform', upstream: 'messages', baseUrl: bedrock.url, account, headers }],
    });
    bedrock.intercept = () => ({ status: 400, body: '{"error":{"message":"recorded"}}' });
    await gateway.post('/v1/messages', { ...base, stream: true });
    const [request] = bedrock.requests;
    await gateway.close();
    await bedrock.close();
    expect(request!.path).to.equal('/v1/messages');
    expect(request!.headers['authorization']).to.match(/SignedHeaders=[^,]*anthropic-workspace-id/);
    expect(await isSigned(request!, { keys: temporary, region, service })).to.equal(true);
  });
});

async function eventsOf(client: VendorClient, params: Params, options?: object): Promise<readonly object[]> {
  const events: object[] = [];
  for await (const event of await client.beta.messages.create({ ...params, stream: true }, options))
    events.push(event);
  return events;
}

/** Headers that say something to the service; the two proofs are compared by verifying them. */
function relevant(headers: IncomingHttpHeaders, apart: readonly string[] = []): object {
  const entries = Object.entries(headers).filter(
    ([name]) =>
      !noise.test(name) && !apart.includes(name) && !(isInBody(headers) && name === 'anthropic-beta'),
  );
  return Object.fromEntries(entries.map(([name, value]) => [name, shapeOf(name, String(value))]));
}

/** True for InvokeModel, where the SDK leaves the header of what it has put into the body. */
function isInBody(headers: IncomingHttpHeaders): boolean {
  return headers['anthropic-version'] === undefined;
}

const noise =
  /^(user-agent|x-stainless-.*|accept-language|accept-encoding|sec-fetch-mode|connection|content-length|host|x-amz-content-sha256)$/;

function shapeOf(name: string, value: string): string {
  if (name === 'x-amz-date') return value.replaceAll(/\d/g, '0');
  return name === 'authorization'
    ? value.replace(/SignedHeaders.*/, '').replace(/\/\d{8}\//, '/DATE/')
    : value;
}

function withoutBeta(path: string): string {
  return path.replace(/\?beta=true$/, '');
}

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** True for a proof that the vendor's signer makes too, over the headers that it says are signed. */
async function isSigned(
  { method, path, headers, text: body }: Received,
  scope: { readonly keys: SignerKeys; readonly region: string; readonly service: string },
): Promise<boolean> {
  const { authorization = '', host = '', 'x-amz-date': date } = headers;
  const names = /SignedHeaders=([^,]*)/.exec(authorization)?.[1]?.split(';') ?? [];
  const signed = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
  const [, year, month, day, hour, minute, second] =
    /^(....)(..)(..)T(..)(..)(..)Z$/.exec(String(date)) ?? [];
  const at = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  const [pathname = '', search = ''] = path.split('?', 2);
  const query = Object.fromEntries(new URLSearchParams(search));
  const request = { method, host, path: pathname, query, headers: signed, body };
  return (await vendorSignature(request, { ...scope, at }))['authorization'] === authorization;
}
