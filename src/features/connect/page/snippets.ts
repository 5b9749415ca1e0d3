/** Values that the snippets are built from. */
export interface Target {
  /** Base URL without a trailing slash and without `/v1`. */
  readonly baseUrl: string;
  readonly key: string;
  readonly model: string;
}

interface Snippet {
  readonly title: string;
  readonly text: string;
  readonly note?: string;
}

interface SnippetGroup {
  readonly id: string;
  readonly text: string;
  readonly snippets: (target: Target) => readonly Snippet[];
}

export const curlGroup: SnippetGroup = { id: 'curl', text: 'curl', snippets: curlSnippets };

export const snippetGroups: readonly SnippetGroup[] = [
  curlGroup,
  { id: 'python', text: 'Python', snippets: pythonSnippets },
  { id: 'typescript', text: 'TypeScript', snippets: typescriptSnippets },
  { id: 'agents', text: 'Agent CLIs', snippets: agentSnippets },
];

function curlSnippets({ baseUrl, key, model }: Target): readonly Snippet[] {
  const messages = [{ role: 'user', content: 'Hello!' }];
  const curl = (path: string, body: object) =>
    [
      `curl ${baseUrl}${path} \\`,
      `  -H 'authorization: Bearer ${key}' \\`,
      `  -H 'content-type: application/json' \\`,
      `  -d '${JSON.stringify(body)}'`,
    ].join('\n');
  return [
    { title: 'Messages', text: curl('/v1/messages', { model, max_tokens: 256, messages }) },
    {
      title: 'Chat Completions, streamed',
      text: curl('/v1/chat/completions', { model, messages, stream: true }),
    },
    { title: 'Responses', text: curl('/v1/responses', { model, input: 'Hello!' }) },
    { title: 'Completions', text: curl('/v1/completions', { model, prompt: 'Hello!' }) },
  ];
}

function pythonSnippets({ baseUrl, key, model }: Target): readonly Snippet[] {
  const messages = `messages=[{"role": "user", "content": "Hello!"}]`;
  return [
    {
      title: 'anthropic (Messages)',
      text: `from anthropic import Anthropic

client = Anthropic(base_url="${baseUrl}", api_key="${key}")

message = client.messages.create(
    model="${model}",
    max_tokens=256,
    ${messages},
)
print(message.content[0].text)`,
    },
    {
      title: 'openai (Chat Completions, Responses)',
      text: `from openai import OpenAI

client = OpenAI(base_url="${baseUrl}/v1", api_key="${key}")

chat = client.chat.completions.create(
    model="${model}",
    ${messages},
)
print(chat.choices[0].message.content)

response = client.responses.create(model="${model}", input="Hello!")
print(response.output_text)`,
    },
  ];
}

function typescriptSnippets({ baseUrl, key, model }: Target): readonly Snippet[] {
  const messages = `messages: [{ role: 'user', content: 'Hello!' }]`;
  return [
    {
      title: '@anthropic-ai/sdk (Messages, streamed)',
      text: `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: '${baseUrl}', apiKey: '${key}' });

const stream = client.messages
  .stream({ model: '${model}', max_tokens: 256, ${messages} })
  .on('text', (text) => process.stdout.write(text));
await stream.finalMessage();`,
    },
    {
      title: 'openai (Chat Completions, Responses)',
      text: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${baseUrl}/v1', apiKey: '${key}' });

const chat = await client.chat.completions.create({
  model: '${model}',
  ${messages},
});
console.log(chat.choices[0].message.content);

const response = await client.responses.create({ model: '${model}', input: 'Hello!' });
console.log(response.output_text);`,
    },
  ];
}

function agentSnippets({ baseUrl, key, model }: Target): readonly Snippet[] {
  return [
    {
      title: 'Agents that speak Messages',
      text: `export ANTHROPIC_BASE_URL=${baseUrl}
export ANTHROPIC_AUTH_TOKEN=${key}
export ANTHROPIC_MODEL=${model}`,
      note: 'Some read ANTHROPIC_API_KEY in place of the token. The gateway takes either header.',
    },
    {
      title: 'Agents that speak Chat Completions or Responses',
      text: `export OPENAI_BASE_URL=${baseUrl}/v1
export OPENAI_API_KEY=${key}
export OPENAI_MODEL=${model}`,
      note: 'Some take the model from their own settings; any id from the catalog works.',
    },
    {
      title: 'Keep a conversation on its slot',
      text: `# Sent with each request of one conversation, it keeps the prompt cache warm:
x-session-id: my-conversation-1`,
      note: 'Clients that send a session id of their own need no header.',
    },
  ];
}
