import { keyFile, project, region, resource, workspace, type Blank } from './blanks.js';

/** A provider that a config can begin with, as `config/providers.md` lists them. */
export interface Provider {
  readonly name: string;
  /** An entry under `slots:`, with its blanks; its `id` names the provider on the command line. */
  readonly slot: string;
  readonly note?: string;
  /** Another name on the command line. */
  readonly alias?: string;
  /** A known model, which the first call requests unless its list lacks it. */
  readonly model: string;
  /** Ids of the shipped catalog that it has. */
  readonly catalog?: readonly string[];
  /** All models that it serves, if it lists none. */
  readonly names?: readonly string[];
  /** True if only its owner knows the names: `DEPLOYMENT` is their placeholder. */
  readonly asksModels?: boolean;
  readonly blanks?: readonly Blank[];
}

/** Models of the shipped catalog that all Claude providers have, and the first of them. */
const claude = { model: 'sonnet-5', catalog: ['sonnet-5', 'sonnet-5-5'] } as const;

/** Providers that serve the Messages API. */
const messages: readonly Provider[] = [
  {
    name: 'Anthropic',
    ...claude,
    slot: `
id: anthropic
upstream: messages
baseUrl: https://api.anthropic.com
account: { kind: api-key, key: "\${ANTHROPIC_API_KEY}" }
models: discover`,
  },
  {
    name: 'Microsoft Foundry',
    model: 'claude-sonnet-5',
    asksModels: true,
    blanks: [{ ...resource, env: ['ANTHROPIC_FOUNDRY_RESOURCE'] }],
    slot: `
id: foundry
upstream: messages
baseUrl: https://RESOURCE.services.ai.azure.com/anthropic
with: { cacheScope: false }
account: { kind: api-key, key: "\${FOUNDRY_API_KEY}" }
models: [DEPLOYMENT]`,
    note: 'RESOURCE is the name of yours, and DEPLOYMENT that of a deployment, which callers ask for; `cacheScope: false` leaves out a field of cache markers that Foundry refuses. With a service principal of Entra: `account: { kind: azure-entra, tenant: …, clientId: …, clientSecret: … }`.',
  },
  {
    name: 'Amazon Bedrock, InvokeModel',
    ...claude,
    blanks: [region],
    slot: `
id: bedrock
upstream: bedrock
with: { region: us-east-1 }
account:
  kind: aws-sigv4
  region: us-east-1
  accessKeyId: "\${AWS_ACCESS_KEY_ID}"
  secretAccessKey: "\${AWS_SECRET_ACCESS_KEY}"
models: discover`,
    note:
      'With an API key of Bedrock: `account: { kind: bearer, token: … }`. Beta flags that Bedrock does not know are left out and named in `x-gw-dropped`. ' +
      'The Converse API is not supported: InvokeModel takes a Messages request as it is, with signatures, cache markers and betas, for which Converse has shapes of its own; ' +
      'models of other vendors are reached by the OpenAI-compatible endpoint of Bedrock (`upstream: chat`).',
  },
  {
    name: 'Amazon Bedrock, Mantle',
    ...claude,
    blanks: [region],
    slot: `
id: mantle
upstream: messages
baseUrl: https://bedrock-mantle.us-east-1.api.aws/anthropic
account: { kind: bearer, token: "\${AWS_BEARER_TOKEN_BEDROCK}" }
models: { sonnet-5: anthropic.claude-sonnet-5, sonnet-5-5: anthropic.claude-sonnet-5-5 }`,
    note: 'Signed by `account: { kind: aws-sigv4, region: us-east-1, service: bedrock-mantle, … }`.',
  },
  {
    name: 'Claude Platform on AWS',
    ...claude,
    blanks: [region, workspace],
    slot: `
id: claude-on-aws
upstream: messages
baseUrl: https://aws-external-anthropic.us-east-1.api.aws
account:
  kind: aws-sigv4
  region: us-east-1
  service: aws-external-anthropic
  accessKeyId: "\${AWS_ACCESS_KEY_ID}"
  secretAccessKey: "\${AWS_SECRET_ACCESS_KEY}"
headers: { anthropic-workspace-id: WORKSPACE }
models: discover`,
  },
  {
    name: 'Vertex AI',
    ...claude,
    blanks: [project('my-project'), keyFile('/run/secrets/vertex.json')],
    slot: `
id: vertex
upstream: vertex
with: { project: my-project, region: global }
account: { kind: google, keyFile: /run/secrets/vertex.json }
models: discover`,
    note: 'The file is the key of a service account. With `applicationDefault: true` in its place the credentials of the machine are used.',
  },
  {
    name: 'Claude Platform on Google Cloud',
    ...claude,
    blanks: [project('PROJECT'), workspace, keyFile('/run/secrets/google.json')],
    slot: `
id: claude-on-google
upstream: messages
baseUrl: https://claude.googleapis.com/v1alpha/projects/PROJECT/locations/global/workspaces/WORKSPACE/invoke
account: { kind: google, keyFile: /run/secrets/google.json }
models: discover`,
  },
  {
    name: 'DeepSeek, its Messages API',
    model: 'deepseek-v4-flash',
    names: ['deepseek-v4-flash', 'deepseek-v4-pro'],
    slot: `
id: deepseek-messages
upstream: messages
baseUrl: https://api.deepseek.com/anthropic
account: { kind: api-key, key: "\${DEEPSEEK_API_KEY}" }
models: [deepseek-v4-flash, deepseek-v4-pro]`,
    note: 'Names that it does not know are answered by a model of its own, without a word: name the models. For clients that ask for another name, a map: `models: { sonnet-5: deepseek-v4-flash }`.',
  },
];

/** Providers that serve Chat Completions, each by its preset; nearly all of them list their models. */
const chat: readonly Provider[] = [
  chatProvider('OpenAI', 'openai', 'https://api.openai.com/v1', 'gpt-5', 'OPENAI_API_KEY'),
  {
    ...chatProvider(
      'Azure OpenAI',
      'azure-openai',
      'https://RESOURCE.openai.azure.com/openai/v1',
      'gpt-5',
      'AZURE_OPENAI_API_KEY',
      'models: [DEPLOYMENT]',
    ),
    alias: 'azure',
    asksModels: true,
    blanks: [{ ...resource, env: ['AZURE_RESOURCE_NAME'] }],
    note: 'RESOURCE is the name of yours, and DEPLOYMENT that of a deployment, which callers ask for: its list has the models that could be deployed.',
  },
  chatProvider(
    'DeepSeek',
    'deepseek',
    'https://api.deepseek.com/v1',
    'deepseek-v4-flash',
    'DEEPSEEK_API_KEY',
  ),
  chatProvider(
    'OpenRouter',
    'openrouter',
    'https://openrouter.ai/api/v1',
    'openrouter/auto',
    'OPENROUTER_API_KEY',
  ),
  chatProvider('Groq', 'groq', 'https://api.groq.com/openai/v1', 'openai/gpt-oss-20b', 'GROQ_API_KEY'),
  chatProvider('Mistral', 'mistral', 'https://api.mistral.ai/v1', 'mistral-small-latest', 'MISTRAL_API_KEY'),
  {
    ...chatProvider(
      'Google Gemini',
      'google',
      'https://generativelanguage.googleapis.com/v1beta/openai',
      'gemini-flash-latest',
      'GEMINI_API_KEY',
    ),
    alias: 'gemini',
    note: 'By its OpenAI-compatible endpoint. The thought signatures of its tool calls reach callers of all formats, and go back with the calls.',
  },
  chatProvider('xAI', 'xai', 'https://api.x.ai/v1', 'grok-4', 'XAI_API_KEY'),
  chatProvider(
    'Together',
    'together',
    'https://api.together.xyz/v1',
    'openai/gpt-oss-20b',
    'TOGETHER_API_KEY',
  ),
  chatProvider(
    'Fireworks',
    'fireworks',
    'https://api.fireworks.ai/inference/v1',
    'accounts/fireworks/models/gpt-oss-20b',
    'FIREWORKS_API_KEY',
  ),
  chatProvider('Ollama', 'ollama', 'http://127.0.0.1:11434/v1', 'llama3.2'),
  chatProvider('vLLM', 'vllm', 'http://127.0.0.1:8000/v1', 'openai/gpt-oss-20b'),
  chatProvider('llama.cpp', 'llama-cpp', 'http://127.0.0.1:8080/v1', 'gpt-oss-20b'),
  chatProvider('LM Studio', 'lm-studio', 'http://127.0.0.1:1234/v1', 'openai/gpt-oss-20b'),
  {
    ...chatProvider(
      'any other server',
      'generic',
      'https://upstream.example/v1',
      'gpt-oss-20b',
      'UPSTREAM_API_KEY',
    ),
    blanks: [
      {
        name: 'baseUrl',
        text: 'https://upstream.example/v1',
        question: 'Base URL, as an OpenAI SDK takes it',
      },
    ],
    note: 'Without a preset it is sent what all servers take; the options of `with` say what else it can do.',
  },
];

/** All providers, in the order of the guide. */
export const providers: readonly Provider[] = [...messages, ...chat];

/** The built-in upstream with made-up answers. */
export const simulator: Provider = {
  name: 'the built-in simulator',
  model: 'sonnet-5',
  catalog: ['sonnet-5', 'sonnet-5-5', 'haiku-5'],
  slot: 'id: simulator\nupstream: simulator',
  note: 'Its answers are made up and say so: it is for trying things out.',
};

/** Id of the slot of a provider. */
export function idOf({ slot }: Pick<Provider, 'slot'>): string {
  return /^id: (\S+)$/m.exec(slot)?.[1] ?? '';
}

/** Names of the environment variables that a slot reads. */
export function variablesOf({ slot }: Pick<Provider, 'slot'>): readonly string[] {
  return [...slot.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
}

function chatProvider(
  name: string,
  preset: string,
  baseUrl: string,
  model: string,
  variable?: string,
  models = 'models: discover',
): Provider {
  const account = variable === undefined ? '{ kind: none }' : `{ kind: api-key, key: "\${${variable}}" }`;
  const lines = [
    `id: ${preset}`,
    'upstream: chat',
    `with: { preset: ${preset} }`,
    `baseUrl: ${baseUrl}`,
    `account: ${account}`,
    models,
  ];
  return { name, model, slot: lines.join('\n') };
}
