/** A provider that a config can begin with, as `config/providers.md` lists them. */
export interface Provider {
  readonly name: string;
  /** An entry under `slots:`; its `id` names the provider on the command line. */
  readonly slot: string;
  readonly note?: string;
}

/** Providers that serve the Messages API. */
const messages: readonly Provider[] = [
  {
    name: 'Anthropic',
    slot: `
id: anthropic
upstream: messages
baseUrl: https://api.anthropic.com
account: { kind: api-key, key: "\${ANTHROPIC_API_KEY}" }`,
  },
  {
    name: 'Microsoft Foundry',
    slot: `
id: foundry
upstream: messages
baseUrl: https://RESOURCE.services.ai.azure.com/anthropic
with: { cacheScope: false }
account: { kind: api-key, key: "\${FOUNDRY_API_KEY}" }
models: { sonnet-5: my-sonnet-deployment }`,
    note: 'RESOURCE is the name of yours; `cacheScope: false` leaves out a field of cache markers that Foundry refuses. With a service principal of Entra: `account: { kind: azure-entra, tenant: …, clientId: …, clientSecret: … }`.',
  },
  {
    name: 'Amazon Bedrock, InvokeModel',
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
    slot: `
id: mantle
upstream: messages
baseUrl: https://bedrock-mantle.us-east-1.api.aws/anthropic
account: { kind: bearer, token: "\${AWS_BEARER_TOKEN_BEDROCK}" }
models: { sonnet-5: anthropic.claude-sonnet-5 }`,
    note: 'Signed by `account: { kind: aws-sigv4, region: us-east-1, service: bedrock-mantle, … }`.',
  },
  {
    name: 'Claude Platform on AWS',
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
headers: { anthropic-workspace-id: WORKSPACE }`,
  },
  {
    name: 'Vertex AI',
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
    slot: `
id: claude-on-google
upstream: messages
baseUrl: https://claude.googleapis.com/v1alpha/projects/PROJECT/locations/global/workspaces/WORKSPACE/invoke
account: { kind: google, keyFile: /run/secrets/google.json }`,
  },
  {
    name: 'DeepSeek, its Messages API',
    slot: `
id: deepseek-messages
upstream: messages
baseUrl: https://api.deepseek.com/anthropic
account: { kind: api-key, key: "\${DEEPSEEK_API_KEY}" }
models: { sonnet-5: deepseek-chat }`,
    note: 'Names that it does not know are answered by a model of its own, without a word: name the models.',
  },
];

/** Providers that serve Chat Completions, each by its preset. */
const chat: readonly Provider[] = [
  chatProvider('OpenAI', 'openai', 'https://api.openai.com/v1', 'OPENAI_API_KEY'),
  {
    ...chatProvider(
      'Azure OpenAI',
      'azure-openai',
      'https://RESOURCE.openai.azure.com/openai/v1',
      'AZURE_OPENAI_API_KEY',
    ),
    note: 'RESOURCE is the name of yours, and the models are your deployments.',
  },
  chatProvider('DeepSeek', 'deepseek', 'https://api.deepseek.com/v1', 'DEEPSEEK_API_KEY'),
  chatProvider('OpenRouter', 'openrouter', 'https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'),
  chatProvider('Groq', 'groq', 'https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
  chatProvider('Mistral', 'mistral', 'https://api.mistral.ai/v1', 'MISTRAL_API_KEY'),
  {
    ...chatProvider(
      'Google Gemini',
      'google',
      'https://generativelanguage.googleapis.com/v1beta/openai',
      'GEMINI_API_KEY',
    ),
    note: 'By its OpenAI-compatible endpoint. The thought signatures of its tool calls reach callers of all formats, and go back with the calls.',
  },
  chatProvider('xAI', 'xai', 'https://api.x.ai/v1', 'XAI_API_KEY'),
  chatProvider('Together', 'together', 'https://api.together.xyz/v1', 'TOGETHER_API_KEY'),
  chatProvider('Fireworks', 'fireworks', 'https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY'),
  chatProvider('Ollama', 'ollama', 'http://127.0.0.1:11434/v1'),
  chatProvider('vLLM', 'vllm', 'http://127.0.0.1:8000/v1'),
  chatProvider('llama.cpp', 'llama-cpp', 'http://127.0.0.1:8080/v1'),
  chatProvider('LM Studio', 'lm-studio', 'http://127.0.0.1:1234/v1'),
  {
    ...chatProvider('any other server', 'generic', 'https://upstream.example/v1', 'UPSTREAM_API_KEY'),
    note: 'Without a preset it is sent what all servers take; the options of `with` say what else it can do.',
  },
];

/** All providers, in the order of the guide. */
export const providers: readonly Provider[] = [...messages, ...chat];

/** The built-in upstream, whose answers are made up. */
export const simulator: Provider = {
  name: 'the built-in simulator',
  slot: 'id: simulator\nupstream: simulator',
  note: 'Its answers are made up and say so: it is for trying things out.',
};

/** Id of the slot of a provider. */
export function idOf({ slot }: Provider): string {
  return /^id: (\S+)$/m.exec(slot)?.[1] ?? '';
}

/** Names of the environment variables that a slot reads. */
export function variablesOf({ slot }: Provider): readonly string[] {
  return [...slot.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
}

function chatProvider(name: string, preset: string, baseUrl: string, variable?: string): Provider {
  const account = variable === undefined ? '{ kind: none }' : `{ kind: api-key, key: "\${${variable}}" }`;
  const lines = [
    `id: ${preset}`,
    'upstream: chat',
    `with: { preset: ${preset} }`,
    `baseUrl: ${baseUrl}`,
    `account: ${account}`,
  ];
  return { name, slot: lines.join('\n') };
}
