import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { idOf, type Provider } from './providers.js';

/** Files of a new config by their paths in its folder. */
export async function filesFor(provider: Provider, port: number): Promise<Readonly<Record<string, string>>> {
  return {
    'config/gateway.yaml': await configFor(provider, port),
    'config/gateway.test.yaml': testsFor(provider),
    'config/models.yaml': await shipped('models.yaml'),
  };
}

/** The config that the package brings, with another slot and port. */
async function configFor({ slot }: Provider, port: number): Promise<string> {
  const entry = slot
    .trim()
    .split('\n')
    .map((line, at) => `  ${at === 0 ? '- ' : '  '}${line}`);
  return (await shipped('gateway.yaml'))
    .replace(/^# yaml-language-server:.*\n\n?/, '')
    .replace(
      '`node dist/server.js check`; every key there is stands in gateway.reference.yaml',
      '`gw2api check`',
    )
    .replace(/^ {2}port: \d+/m, `  port: ${port}`)
    .replace(
      /^# One upstream account a slot\.[^]*?(?=^models:)/m,
      `${slotsComment}\nslots:\n${entry.join('\n')}\n\n`,
    );
}

const slotsComment =
  '# One upstream account a slot. Further ones share the work, and stand in for each other.';

function shipped(name: string): Promise<string> {
  return readFile(new URL(`../../../config/${name}`, import.meta.url), 'utf8');
}

function testsFor(provider: Provider): string {
  const { models } = parse(provider.slot) as { models?: unknown }; // one of our own
  const [model = 'sonnet-5'] = typeof models === 'object' ? Object.keys(models ?? {}) : [];
  return `# Tests of gateway.yaml: \`gw2api test\`. Nothing leaves the machine: simulators answer in place of accounts.
config: ./gateway.yaml

tests:
  - name: a request without a key is refused
    requests:
      - post: /v1/messages
        as: nobody
        body: { model: ${model}, max_tokens: 100, messages: [{ role: user, content: Hello! }] }
        expect: { status: 401, error.code: missing_api_key, attempts: 0 }

  - name: the slot answers in each format
    requests:
      - post: /v1/messages
        body: { model: ${model}, max_tokens: 100, messages: [{ role: user, content: Hello! }] }
        expect: { status: 200, slot: ${idOf(provider)}, answer.type: message }
      - post: /v1/chat/completions
        body: { model: ${model}, messages: [{ role: user, content: Hello! }] }
        expect: { status: 200, slot: ${idOf(provider)}, answer.object: chat.completion }
      - post: /v1/responses
        body: { model: ${model}, input: Hello! }
        expect: { status: 200, slot: ${idOf(provider)}, answer.object: response }

  - name: a key keeps to its requests a minute
    keys:
      small: { requestsPerMinute: 1 }
    requests:
      - post: /v1/messages
        as: small
        body: { model: ${model}, max_tokens: 100, messages: [{ role: user, content: Hello! }] }
        expect: { status: 200 }
      - { as: small, same: true, expect: { status: 429, error.code: rate_limited } }
`;
}
