import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { startSimulator } from '#plugins/upstreams/simulator/simulator.js';
import { ProcessWorkshop } from '../gateway/gateway-process.js';
import { startOpenaiServer } from '../gateway/openai-server.js';
import { serviceAccountKey } from '../slots/service-account.js';
import { TokenEndpoint } from '../slots/token-endpoint.js';
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

describe('the first requests after gw2api init', function () {
  this.timeout(60_000);
  const workshop = new ProcessWorkshop();
  const servers: { close(): unknown }[] = [];
  afterEach(async () => {
    await workshop.end();
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  /** Starts what `init` writes for a provider, at the place of a server, and sends it each first request. */
  async function answered(provider: string, model: string, changes: readonly (readonly [string, string])[]) {
    const folder = await workshop.folder();
    const keys = {
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'secret',
      OPENAI_API_KEY: 'sk-1',
    };
    const written = await workshop.run({
      args: ['init', '--provider', provider, '--folder', folder],
      env: keys,
    });
    expect(written.code, written.stderr).to.equal(0);
    const file = path.join(folder, 'config/gateway.yaml');
    let config = await readFile(file, 'utf8');
    for (const [before, after] of changes) {
      expect(config).to.include(before);
      config = config.replace(before, after);
    }
    await writeFile(file, config);
    const gateway = await workshop.start({ cwd: folder, env: { GW_STORE: 'memory' } });
    const url = await gateway.url();
    const [, key = ''] =
      /^GW2API_API_KEY=(\S+)$/m.exec(await readFile(path.join(folder, '.env'), 'utf8')) ?? [];
    for (const [target, body] of Object.entries(requests(model))) {
      const response = await fetch(url + target, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify(body),
      });
      expect([response.status, await response.text()][0], `${target} ${gateway.stdout}`).to.equal(200);
      expect(response.headers.get('x-gw-attempts')).to.equal('1');
    }
  }

  for (const [what, model, isOld] of [
    ['Bedrock', undefined, false],
    ['an older model of Bedrock', 'us.anthropic.claude-3-7-sonnet-20250219-v1:0', true],
  ] as const)
    it(`are taken by ${what}`, async () => {
      const bedrock = await startBedrock();
      servers.push(bedrock);
      bedrock.intercept = (request) => refusalOfBedrock(request, isOld);
      await answered('bedrock', 'sonnet-5', [
        ['with: { region: us-east-1 }', `with: { region: us-east-1 }\n    baseUrl: ${bedrock.url}`],
        ['models: discover', model === undefined ? 'models: discover' : `models: { sonnet-5: '${model}' }`],
      ]);
      const paths = new Set(bedrock.requests.map(({ path: target }) => decodeURIComponent(target)));
      expect([...paths].join()).to.include(model ?? '/model/us.anthropic.claude-sonnet-5/invoke');
    });

  it('are taken by Vertex AI', async () => {
    const [simulator, tokens] = await Promise.all([startSimulator(), TokenEndpoint.open()]);
    servers.push(simulator, tokens);
    const keyFile = path.join(await workshop.folder(), 'vertex.json');
    await writeFile(keyFile, serviceAccountKey(tokens.url));
    await answered('vertex', 'sonnet-5', [
      ['upstream: vertex', `upstream: vertex\n    baseUrl: ${simulator.url}/v1`],
      ['/run/secrets/vertex.json', keyFile],
    ]);
    expect(
      simulator.requests.every(({ path: target }) => target.includes('/publishers/anthropic/')),
    ).to.equal(true);
  });

  for (const [provider, model, baseUrl] of [
    ['openai', 'gpt-5', 'https://api.openai.com/v1'],
    ['ollama', 'llama3.2', 'http://127.0.0.1:11434/v1'],
  ] as const)
    it(`are taken by ${provider}`, async () => {
      const server = await startOpenaiServer();
      servers.push(server);
      server.refuse = (body) => refusalOfChat(body, provider);
      await answered(provider, model, [[baseUrl, `${server.url}/v1`]]);
    });
});

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
  if (!headers.authorization?.startsWith('AWS4-HMAC-SHA256 '))
    return refuse('Missing Authentication Token', 403);
  if (target.endsWith('/count-tokens')) return undefined;
  const unknown = Object.keys(body).find((name) => !invokeFields.has(name));
  if (unknown !== undefined) return refuse(`extraneous key [${unknown}] is not permitted`);
  if (/"type":"(?!text|custom|ephemeral|adaptive|object)\w+_\d{8}"/.test(text))
    return refuse('The provided request is not valid');
  return isOld && text.includes('"ttl"') ? refuse('The provided request is not valid') : undefined;
}

const invokeFields = new Set(
  'anthropic_version anthropic_beta max_tokens messages system tools tool_choice thinking stop_sequences temperature top_p top_k'.split(
    ' ',
  ),
);

/** Refusal of a Chat server for what its provider has no field for. */
function refusalOfChat(body: Fields, provider: 'openai' | 'ollama'): string | undefined {
  const { fields, roles } = chatServers[provider];
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
const chatServers = {
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
