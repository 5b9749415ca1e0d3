import { readFile } from 'node:fs/promises';
import { packageFile } from '../../kit/package-files.js';
import type { FilledSlot } from './filled-slot.js';
import type { Provider } from './providers.js';

/** The config that the package brings, with another slot and port. */
export async function newConfig(slot: FilledSlot, port: number): Promise<string> {
  return configFrom(await shipped('gateway.yaml'), slot, port);
}

/** The text of a config with another slot and port. Throws if a part to be replaced is missing. */
export function configFrom(text: string, slot: FilledSlot, port: number): string {
  const changes: readonly Change[] = [
    [/^# yaml-language-server:.*\n\n?/, ''],
    [
      /`node dist\/server\.js check`; every key there is stands in gateway\.reference\.yaml/,
      '`gw2api check`',
    ],
    [/^ {2}port: \d+/m, `  port: ${port}`],
    [
      /^# One upstream account per slot\.[^]*?(?=^models:)/m,
      `${slotsComment}\nslots:\n${indented(slot.text)}\n`,
    ],
  ];
  return changes.reduce(replaced, text);
}

type Change = readonly [part: RegExp, replacement: string];

function replaced(text: string, [part, replacement]: Change): string {
  if (!part.test(text)) throw new Error(`The shipped config has no text like ${part}.`);
  return text.replace(part, () => replacement);
}

const slotsComment =
  '# One upstream account per slot. Several slots share the load and replace each other on failure.';

function shipped(name: string): Promise<string> {
  return readFile(packageFile(`config/${name}`), 'utf8');
}

/** A catalog of the models that a slot is known to have; listed models need no entry. */
export async function newCatalog(provider: Provider, slot: FilledSlot): Promise<string> {
  const { head } = await shippedCatalog();
  const entries = (await catalogEntries(provider, slot)).map(({ text }) => indented(text));
  return entries.length > 0
    ? head + entries.join('\n')
    : replaced(head, [/^models:$/m, `${listedComment}\nmodels: []`]);
}

const listedComment =
  '# The slot serves what its provider lists. An entry here gives a model limits, a price or another name.';

/** Entry of a catalog. */
export interface CatalogEntry {
  readonly id: string;
  /** YAML. */
  readonly text: string;
}

/** Entries that a catalog needs for a slot: those of the shipped one, or a bare one for each name of its own. */
export async function catalogEntries(
  { catalog = [] }: Provider,
  { models }: FilledSlot,
): Promise<readonly CatalogEntry[]> {
  if (models.length > 0) return models.map((id) => ({ id, text: `id: ${quoted(id)}\n` }));
  const { entries } = await shippedCatalog();
  return entries.filter(({ id }) => catalog.includes(id));
}

/** The shipped catalog: the text up to its list, and its entries. */
async function shippedCatalog(): Promise<{
  readonly head: string;
  readonly entries: readonly CatalogEntry[];
}> {
  const [head = '', ...texts] = (await shipped('models.yaml')).split(/(?<=\n)(?= {2}- id: )/);
  const entries = texts.map((text) => ({
    id: /- id: (\S+)/.exec(text)?.[1] ?? '',
    text: `${text.trimEnd().replaceAll(/^ {2}(?:- | {2})/gm, '')}\n`,
  }));
  return { head, entries };
}

/** Tests of a new config. `model`: name of the requested model. */
export function newTests(slot: FilledSlot, model: string): string {
  return `# Tests of gateway.yaml: \`gw2api test\`. Nothing leaves the machine: simulators answer in place of accounts.
config: ./gateway.yaml

tests:
  - name: a request without a key is refused
    requests:
      - post: /v1/messages
        as: nobody
        body: { model: ${quoted(model)}, max_tokens: 100, messages: [{ role: user, content: Hello! }] }
        expect: { status: 401, error.code: missing_api_key, attempts: 0 }

${indented(slotTest(slot.id, model))}
  - name: a key keeps to its requests a minute
    keys:
      small: { requestsPerMinute: 1 }
    requests:
      - post: /v1/messages
        as: small
        body: { model: ${quoted(model)}, max_tokens: 100, messages: [{ role: user, content: Hello! }] }
        expect: { status: 200 }
      - { as: small, same: true, expect: { status: 429, error.code: rate_limited } }
`;
}

/** YAML of a test of one slot, with a key limited to that slot. */
export function slotTest(id: string, model: string): string {
  const name = quoted(model);
  return `name: the slot ${id} answers in each format
keys:
  mine: { slots: [${quoted(id)}] }
requests:
  - post: /v1/messages
    as: mine
    body: { model: ${name}, max_tokens: 100, messages: [{ role: user, content: Hello! }] }
    expect: { status: 200, slot: ${quoted(id)}, answer.type: message }
  - post: /v1/chat/completions
    as: mine
    body: { model: ${name}, messages: [{ role: user, content: Hello! }] }
    expect: { status: 200, slot: ${quoted(id)}, answer.object: chat.completion }
  - post: /v1/responses
    as: mine
    body: { model: ${name}, input: Hello! }
    expect: { status: 200, slot: ${quoted(id)}, answer.object: response }
`;
}

/** An entry of a list, from the text of a map. */
export function indented(text: string, indent = 2): string {
  const lines = text.trimEnd().split('\n');
  const rest = ' '.repeat(indent + 2);
  const entry = lines.map((line, at) => (at === 0 ? `${' '.repeat(indent)}- ${line}` : line && rest + line));
  return `${entry.join('\n')}\n`;
}

/** A text as a YAML flow scalar. */
function quoted(text: string): string {
  const isPlain = /^[A-Za-z][\w./-]*$/.test(text) && !/^(?:true|false|null)$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}
