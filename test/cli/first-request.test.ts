import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { expect } from 'chai';
import { startSimulator } from '#plugins/upstreams/simulator/server.js';
import { init, type InitArguments } from '#src/cli/init.js';
import { idOf, providers, variablesOf } from '#src/cli/init/providers.js';
import { ProcessWorkshop } from '../whole/gateway-process.js';
import { startGateway, type GatewayUnderTest } from '../whole/harness.js';
import { startOpenaiServer } from '../whole/slots/upstreams/openai-server.js';
import { scripted } from '../whole/scripted-upstream.js';
import { serviceAccountKey } from '../engine/slots/service-account.js';
import { TokenEndpoint } from '../engine/slots/token-endpoint.js';
import { startBedrock, type BedrockAnswer, type BedrockRequest } from '../support/bedrock-server.js';

type Fields = Readonly<Record<string, unknown>>;

/** What comes first from the clients of each format. */
const requests = (model: string): Readonly<Record<string, Fields>> => {
  const messages = [{ role: 'user', content: 'Hi.' }];
  const tool = { name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: {} } };
  return {
    '/v1/messages': { model, max_tokens: 1000, system: 'Be brief.', messages, tools: [tool] },
    '/v1/messages?beta=true': { model, messages, thinking: { type: 'adaptive' }, stream: true },
    '/v1/chat/completions': { model, messages },
    '/v1/responses': { model, input: 'Hi.' },
    '/v1/completions': { model, prompt: 'Hi.' },
  };
};

/** A server in the place of a provider, which refuses models that the provider does not have. */
interface Stand {
  readonly url: string;
  /** Options of `init` for it, beside its address. */
  readonly given?: InitArguments;
  close(): unknown;
}

/** Ids at the vendor's own API and in the clouds that have it as it is. */
const claudeIds = ['claude-haiku-5-5', 'claude-opus-5-5', 'claude-sonnet-5-5', 'claude-sonnet-5'];

/** Providers with the names that they list, and those that they answer to where these are others. */
const chatIds: Readonly<
  Record<string, { readonly lists?: readonly string[]; readonly has: readonly string[] }>
> = {
  openai: { has: ['text-embedding-4', 'gpt-6', 'gpt-6-mini'] },
  'azure-openai': { lists: ['gpt-6', 'gpt-6-mini'], has: ['prod-chat'] },
  deepseek: { has: ['deepseek-v4-flash', 'deepseek-v4-pro'] },
  openrouter: { has: ['anthropic/claude-sonnet-5.5', 'openrouter/auto'] },
  groq: { has: ['whisper-large-v3', 'openai/gpt-oss-120b'] },
  mistral: { has: ['mistral-embed', 'mistral-large-latest'] },
  google: { lists: ['models/gemini-embedding-2', 'models/gemini-4-flash'], has: ['gemini-4-flash'] },
  xai: { has: ['grok-imagine-image', 'grok-5'] },
  together: { has: ['meta-llama/Llama-5-Turbo'] },
  fireworks: { has: ['accounts/fireworks/models/glm-6'] },
  ollama: { lists: ['qwen4:latest'], has: ['qwen4:latest', 'qwen4'] },
  vllm: { has: ['Qwen/Qwen4-32B'] },
  'llama-cpp': { has: ['/models/qwen4.gguf'] },
  'lm-studio': { has: ['text-embedding-nomic', 'qwen4-32b'] },
  generic: { has: ['house-model'] },
};

describe('the first requests after gw2api init', function () {
  this.timeout(60_000);
  const workshop = new ProcessWorkshop();
  const open: { close(): unknown }[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.close()));
    await workshop.end();
  });

  /** Writes the config of a provider, with its first call. */
  async function written(
    provider: string,
    { url, given }: Stand,
  ): Promise<{ folder: string; model: string }> {
    const folder = await workshop.folder();
    const found = providers.find((each) => idOf(each) === provider)!;
    const keys = Object.fromEntries(variablesOf(found).map((name) => [name, `key-of-${name}`]));
    const { text } = await init({ provider, folder, 'base-url': url, ...given }, keys, undefined);
    const [, model = ''] = /^The first call works: (\S+) answered in \d+\.\d s\.$/m.exec(text) ?? [];
    expect(model, text).to.not.equal('');
    expect(text).to.include(`-d '{"model":"${model}",`);
    expect(await readFile(path.join(folder, 'config/gateway.test.yaml'), 'utf8')).to.include(model);
    return { folder, model };
  }

  async function environmentOf(folder: string): Promise<Record<string, string>> {
    const written = parseEnv(await readFile(path.join(folder, '.env'), 'utf8')) as Record<string, string>;
    return { ...written, GW_STORE: 'memory', HOST: '127.0.0.1', PORT: '0' };
  }

  /** Starts what `init` has written, and sends it each first request, and one for each model that it lists. */
  async function answered(provider: string, stand: Stand): Promise<void> {
    open.push(stand);
    const { folder, model } = await written(provider, stand);
    const gateway = await startGateway(path.join(folder, 'config/gateway.yaml'), await environmentOf(folder));
    open.push(gateway);
    for (const [target, body] of Object.entries(requests(model))) await isAnswered(gateway, target, body);
    const { data } = (await (await gateway.get('/v1/models')).json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).to.include(model);
    for (const { id } of data.filter((each) => !otherKinds.test(each.id)).slice(0, 5))
      await isAnswered(gateway, '/v1/messages', requests(id)['/v1/messages']!);
  }

  async function isAnswered(gateway: GatewayUnderTest, target: string, body: Fields): Promise<void> {
    const response = await gateway.post(target, body);
    const what = `${target} ${String(body['model'])} ${JSON.stringify(gateway.logged.slice(-2))}`;
    expect([response.status, await response.text()][0], what).to.equal(200);
    expect(response.headers.get('x-gw-attempts'), what).to.equal('1');
  }

  it('are tested for every provider that init offers', () => {
    const tested = [...Object.keys(messagesStands), 'bedrock', 'vertex', 'claude-on-google'];
    expect([...tested, ...Object.keys(chatIds)].toSorted()).to.deep.equal(providers.map(idOf).toSorted());
  });

  /** Servers of the Messages API by their providers: names that they have, and options of `init`. */
  const messagesStands: Readonly<Record<string, Omit<MessagesStand, 'url'>>> = {
    anthropic: { lists: true, ids: claudeIds },
    foundry: { ids: ['team-sonnet'], given: { set: ['resource=acme'], model: ['team-sonnet'] } },
    mantle: { ids: claudeIds.map((id) => `anthropic.${id}`) },
    'claude-on-aws': { ids: claudeIds, given: { set: ['workspace=wrkspc_1', 'region=us-east-2'] } },
    'deepseek-messages': { ids: ['deepseek-v4-flash', 'deepseek-v4-pro'] },
  };
  for (const [provider, stand] of Object.entries(messagesStands))
    it(`are taken by ${provider}`, async () => answered(provider, await startMessages(stand)));

  it('are taken by claude-on-google', async () => {
    const stand = await startMessages({ ids: claudeIds });
    await answered('claude-on-google', { ...stand, given: { set: [await serviceAccount()] } });
  });

  for (const [what, given, isOld] of [
    ['bedrock', {}, false],
    ['an older model of bedrock', { model: ['us.anthropic.claude-3-7-sonnet-20250219-v1:0'] }, true],
  ] as const)
    it(`are taken by ${what}`, async () => {
      const bedrock = await startBedrock();
      bedrock.intercept = (request) => refusalOfBedrock(request, isOld);
      await answered('bedrock', { url: bedrock.url, given, close: () => bedrock.close() });
    });

  it('are taken by vertex', async () => {
    const simulator = await startSimulator();
    const given = { set: ['project=acme', await serviceAccount()] };
    await answered('vertex', { url: `${simulator.url}/v1`, given, close: () => simulator.close() });
    const paths = simulator.requests.map(({ path: target }) => target);
    const known =
      /^\/v1\/projects\/acme\/locations\/global\/publishers\/anthropic\/models\/(?:count-tokens|claude-(?:\w+-5-5|sonnet-5|opus-5|fable-5(?:-1)?|opus-4-[678]|sonnet-4-6|(?:opus|haiku|sonnet)-4-5@\d{8})):/;
    expect(paths.filter((target) => !known.test(target))).to.deep.equal([]);
  });

  for (const [provider, { lists, has }] of Object.entries(chatIds))
    it(`are taken by ${provider}`, async () => {
      const server = await startOpenaiServer();
      server.models = lists ?? has;
      server.isBareList = provider === 'together';
      server.refuse = (body) =>
        has.includes(String(body['model'])) && !otherKinds.test(String(body['model']))
          ? refusalOfChat(body, provider)
          : `The model '${String(body['model'])}' does not exist.`;
      const given = provider === 'azure-openai' ? { set: ['resource=acme'], model: ['prod-chat'] } : {};
      await answered(provider, { url: `${server.url}/v1`, given, close: () => server.close() });
    });

  it('are answered by a process that was started as init says', async () => {
    const server = await startOpenaiServer();
    open.push(server);
    server.models = ['gpt-6'];
    const { folder, model } = await written('openai', { ...server, url: `${server.url}/v1` });
    const gateway = await workshop.start({ cwd: folder, env: { GW_STORE: 'memory' } });
    const { GW2API_API_KEY: key = '' } = await environmentOf(folder);
    const response = await fetch(`${await gateway.url()}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(requests(model)['/v1/messages']),
    });
    expect([response.status, await response.text()][0]).to.equal(200);
  });

  it('are told to fail by init where they do, with the cause and without the key', async () => {
    const server = await startOpenaiServer();
    open.push(server);
    server.models = ['gpt-6'];
    server.refuse = () => 'Your account key-of-OPENAI is not active.';
    const folder = await workshop.folder();
    const given = { provider: 'openai', folder, 'base-url': `${server.url}/v1` };
    const { text } = await init(given, { OPENAI_API_KEY: 'key-of-OPENAI' }, undefined);
    expect(text).to.match(/^The first call FAILED: gpt-6: 400 Your account \S+ is not active\.$/m);
    expect(text).to.not.include('key-of-OPENAI');
    expect(text).to.include('check --online');
    server.bodies.length = 0;
    const quiet = await init({ ...given, force: true, 'no-test': true }, { OPENAI_API_KEY: 'k' }, undefined);
    expect(quiet.text).to.not.include('first call');
    expect(server.bodies).to.deep.equal([]);
  });

  /** Option of `init` for a service account. */
  async function serviceAccount(): Promise<string> {
    const tokens = await TokenEndpoint.open();
    open.push(tokens);
    const folder = await workshop.folder({ 'account.json': serviceAccountKey(tokens.url) });
    return `keyFile=${path.join(folder, 'account.json')}`;
  }
});

interface MessagesStand extends Pick<Stand, 'given' | 'url'> {
  readonly ids: readonly string[];
  /** True for a provider with a list of models. */
  readonly lists?: boolean;
}

/** A server of the Messages API that knows these ids and no other one. */
async function startMessages({ ids, lists = false, ...stand }: Omit<MessagesStand, 'url'>): Promise<Stand> {
  const server = await scripted(({ url = '' }, response, parts, text) => {
    const answer = (status: number, type: string, body: string) =>
      response.writeHead(status, { 'content-type': type }).end(body);
    if (!url.includes('/v1/messages')) {
      const data = ids.map((id) => ({ id, type: 'model' }));
      return lists
        ? answer(200, 'application/json', JSON.stringify({ data, has_more: false }))
        : answer(404, 'application/json', errorOf('not_found_error', 'Not found'));
    }
    const { model } = JSON.parse(text) as { model: string };
    if (!ids.includes(model))
      return answer(404, 'application/json', errorOf('not_found_error', `model: ${model}`));
    return answer(200, 'text/event-stream', parts.start + parts.text('Hello.') + parts.end + parts.stop);
  });
  return { ...server, ...stand };
}

function errorOf(type: string, message: string): string {
  return JSON.stringify({ type: 'error', error: { type, message } });
}

/** Names of models that answer no conversation. */
const otherKinds = /embed|whisper|image/;

/** Refusal of InvokeModel, which says of most what it refuses nothing but that. */
function refusalOfBedrock(
  { path: target, headers, text, body }: BedrockRequest,
  isOld: boolean,
): BedrockAnswer | undefined {
  const refuse = (message: string, status = 400): BedrockAnswer => ({
    status,
    headers: { 'x-amzn-errortype': 'ValidationException' },
    body: JSON.stringify({ message }),
  });
  const model = decodeURIComponent(/^\/model\/([^/]+)\//.exec(target)?.[1] ?? '');
  if (!bedrockId.test(model)) return refuse(`The provided model identifier is invalid: ${model}`);
  if (!headers.authorization?.startsWith('AWS4-HMAC-SHA256 '))
    return refuse('Missing Authentication Token', 403);
  if (target.endsWith('/count-tokens')) return undefined;
  const unknown = Object.keys(body).find((name) => !invokeFields.has(name));
  if (unknown !== undefined) return refuse(`extraneous key [${unknown}] is not permitted`);
  if (/"type":"(?!text|custom|ephemeral|adaptive|object)\w+_\d{8}"/.test(text))
    return refuse('The provided request is not valid');
  return isOld && text.includes('"ttl"') ? refuse('The provided request is not valid') : undefined;
}

/** Inference profiles of us-east-1, and models as they are counted. */
const bedrockId =
  /^(?:(?:us|global)\.)?anthropic\.claude-(?:\w+-5-5|sonnet-5|opus-5|fable-5(?:-1)?|opus-4-[78]|sonnet-4-6|opus-4-6-v1|(?:opus|haiku|sonnet)-4-5-\d{8}-v1:0|3-7-sonnet-20250219-v1:0)$/;

const invokeFields = new Set(
  'anthropic_version anthropic_beta max_tokens messages system tools tool_choice thinking stop_sequences temperature top_p top_k'.split(
    ' ',
  ),
);

/** Refusal of a Chat server for what its provider has no field for. */
function refusalOfChat(body: Fields, provider: string): string | undefined {
  const server = chatServers[provider];
  if (!server) return undefined;
  const { fields, roles } = server;
  const unknown = Object.keys(body).find((name) => !fields.includes(name));
  if (unknown !== undefined) return `Unknown parameter: '${unknown}'.`;
  if (JSON.stringify(body).includes('cache_control')) return "Unknown parameter: 'cache_control'.";
  const { messages, tools = [] } = body as {
    messages: readonly { role: string }[];
    tools?: readonly { type: string }[];
  };
  const wrong = messages.find(({ role }) => !roles.includes(role));
  if (wrong) return `Invalid value: '${wrong.role}'.`;
  return tools.every(({ type }) => type === 'function') ? undefined : "Invalid value of 'tools[0].type'.";
}

const shared = ['model', 'messages', 'tools', 'stream', 'stream_options', 'reasoning_effort'];
const chatServers: Readonly<
  Record<string, { readonly fields: readonly string[]; readonly roles: readonly string[] }>
> = {
  openai: {
    fields: [
      ...shared,
      'max_completion_tokens',
      'parallel_tool_calls',
      'prompt_cache_key',
      'safety_identifier',
    ],
    roles: ['developer', 'user', 'assistant', 'tool'],
  },
  ollama: { fields: [...shared, 'max_tokens'], roles: ['system', 'user', 'assistant', 'tool'] },
};
