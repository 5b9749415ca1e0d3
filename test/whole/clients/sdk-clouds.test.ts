import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';
import { serviceAccountKey } from '../../engine/slots/service-account.js';
import { TokenEndpoint } from '../../engine/slots/token-endpoint.js';
import { Kit } from '../../engine/transport/upstream-kit.js';
import { startGateway, type GatewayUnderTest } from '../harness.js';
import { startRecorder, type Recorded } from '../slots/upstreams/recorder.js';
import { anthropicAt } from './sdk-clients.js';

const sdks = process.env['GW_TEST_SDKS'];

/** A way to Claude, as its vendor's SDK goes it and as a slot does. */
interface Cloud {
  readonly name: string;
  readonly sdk: (recorder: string) => Promise<Anthropic>;
  readonly slot: (recorder: string, tokens: TokenEndpoint) => object;
}

const clouds: readonly Cloud[] = [
  {
    name: 'Vertex AI, by a service account',
    async sdk(recorder) {
      const headers = new Headers({ authorization: 'Bearer access-1' });
      const authClient = { projectId: 'test-project', getRequestHeaders: async () => headers };
      const options = {
        region: 'us-east5',
        projectId: 'test-project',
        authClient,
        baseURL: `${recorder}/v1`,
      };
      return open('@anthropic-ai/vertex-sdk', 'AnthropicVertex', options);
    },
    slot: (recorder, { url }) => ({
      upstream: 'vertex',
      baseUrl: `${recorder}/v1`,
      with: { project: 'test-project', region: 'us-east5' },
      account: { kind: 'google', key: serviceAccountKey(url) },
    }),
  },
  {
    name: 'Microsoft Foundry, by a key',
    sdk: (recorder) =>
      open('@anthropic-ai/foundry-sdk', 'AnthropicFoundry', {
        apiKey: 'key-1',
        baseURL: `${recorder}/anthropic`,
      }),
    slot: (recorder) => ({
      upstream: 'messages',
      baseUrl: `${recorder}/anthropic`,
      account: { kind: 'api-key', key: 'key-1' },
    }),
  },
  {
    name: 'Microsoft Foundry, by Entra',
    sdk(recorder) {
      const azureADTokenProvider = async () => 'access-1';
      const options = { azureADTokenProvider, baseURL: `${recorder}/anthropic` };
      return open('@anthropic-ai/foundry-sdk', 'AnthropicFoundry', options);
    },
    slot: (recorder, { url }) => ({
      upstream: 'messages',
      baseUrl: `${recorder}/anthropic`,
      account: {
        kind: 'azure-entra',
        tenant: 'contoso.example',
        clientId: 'c',
        clientSecret: 's',
        authority: new URL(url).origin,
      },
    }),
  },
];

async function open(name: string, client: string, options: object): Promise<Anthropic> {
  const file = createRequire(path.join(sdks ?? '', 'index.js')).resolve(name);
  const module = (await import(pathToFileURL(file).href)) as Record<string, new (given: object) => Anthropic>;
  return new module[client]!({ ...options, maxRetries: 0, logLevel: 'off' });
}

const messages = [{ role: 'user' as const, content: 'What is the weather in Łódź?' }];
const plain = { model: 'claude-sonnet-5', max_tokens: 100, messages };
const tool = {
  name: 'weather',
  description: 'Weather of a city',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
};
const turns = [
  ...messages,
  {
    role: 'assistant' as const,
    content: [
      { type: 'thinking' as const, thinking: 'Hm.', signature: 'c2lnbmVk' },
      { type: 'tool_use' as const, id: 'toolu_1', name: 'weather', input: { city: 'Łódź' } },
    ],
  },
  {
    role: 'user' as const,
    content: [{ type: 'tool_result' as const, tool_use_id: 'toolu_1', content: '21 °C' }],
  },
];

/** Calls that both clients make. */
const calls: Readonly<Record<string, (client: Anthropic) => Promise<unknown>>> = {
  'a text': (client) => read(client.messages.create({ ...plain, stream: true })),
  'a dated model': (client) =>
    read(client.messages.create({ ...plain, model: 'claude-sonnet-5@20260101', stream: true })),
  'a model with signs that paths do not take': (client) =>
    read(client.messages.create({ ...plain, model: 'my model/ü%?#;x', stream: true })),
  'tools, thinking and a system prompt with a cache marker': (client) =>
    read(
      client.messages.create({
        ...plain,
        max_tokens: 4000,
        messages: turns,
        system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
        tools: [tool],
        tool_choice: { type: 'auto', disable_parallel_tool_use: true },
        thinking: { type: 'enabled', budget_tokens: 2000 },
        metadata: { user_id: 'u-1' },
        stop_sequences: ['END'],
        stream: true,
      }),
    ),
  'beta flags': (client) =>
    read(
      client.beta.messages.create({
        ...plain,
        betas: ['context-management-2025-06-27', 'interleaved-thinking-2025-05-14'],
        context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
        stream: true,
      }),
    ),
  'a token count': (client) =>
    client.messages.countTokens({ model: 'claude-sonnet-5', messages, tools: [tool] }),
  'a token count with beta flags': (client) =>
    client.beta.messages.countTokens({
      model: 'claude-sonnet-5',
      messages,
      betas: ['token-counting-2024-11-01'],
    }),
};

async function read(stream: PromiseLike<AsyncIterable<unknown>>): Promise<void> {
  for await (const _ of await stream);
}

const pipeline = ['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'].map(
  (use) => ({ use }),
);

/** Headers by which a service judges a request; others are of the connection, or say which program has made it. */
const telling = ['authorization', 'x-api-key', 'content-type', 'anthropic-version', 'anthropic-beta'];

for (const { name, sdk, slot } of clouds)
  describe(`a slot of ${name}, beside the SDK of the vendor${sdks ? '' : ' (skipped: GW_TEST_SDKS names no folder with it)'}`, () => {
    const kit = new Kit();
    let tokens: TokenEndpoint;
    let recorder: { readonly url: string; readonly requests: Recorded[] };
    let gateway: GatewayUnderTest;
    before(async function () {
      if (!sdks) return this.skip();
      tokens = await TokenEndpoint.open();
      recorder = await startRecorder(kit);
      gateway = await startGateway({ pipeline, slots: [{ id: 'a', ...slot(recorder.url, tokens) }] });
      return undefined;
    });
    after(async () => {
      if (!sdks) return;
      await gateway.close();
      await kit.close();
      await tokens.close();
    });

    for (const [what, call] of Object.entries(calls))
      it(`sends the same for ${what}`, async () => {
        recorder.requests.length = 0;
        await call(await sdk(recorder.url));
        await call(anthropicAt(gateway));
        const [direct, through] = recorder.requests.map(essence);
        expect(recorder.requests).to.have.length(2);
        expect(through).to.deep.equal(direct);
      });
  });

function essence({ method, url = '', headers, body }: Recorded): object {
  const told = telling.flatMap((name) => (name in headers ? [[name, headers[name]]] : []));
  return { method, url, headers: Object.fromEntries(told) as object, body };
}
