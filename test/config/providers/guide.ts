import { columns, type Abilities } from './abilities.js';
import type { Provider } from './providers.js';

/** The guide `config/providers.md`. */
export function guideOf(providers: readonly Provider[]): string {
  const keys = Object.keys(columns) as (keyof Abilities)[]; // its own keys
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    intro,
    row(['provider', ...keys.map((key) => columns[key])]),
    `|${'---|'.repeat(keys.length + 1)}`,
    ...providers.map(({ name, abilities }) => row([name, ...keys.map((key) => abilities[key])])),
    '',
    legend,
    ...providers.map(sectionOf),
  ].join('\n');
}

function sectionOf({ name, slot, note }: Provider): string {
  const [first, ...rest] = slot.trim().split('\n');
  const entry = [`  - ${first}`, ...rest.map((line) => `    ${line}`)].join('\n');
  const heading = `## ${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return ['', heading, '', ...(note === undefined ? [] : [note, '']), '```yaml', entry, '```'].join('\n');
}

const intro = `# Point it at your provider

Copy the slot of your provider under \`slots:\`, give its key by the environment, and ask \`node dist/server.js check --online\`: it resolves and reaches the slot, has the credential checked without cost, and says which models of your catalog the provider does not have. The console enters the same slots in a form.

A slot serves every caller in all four formats. What the provider cannot express is left out and named in \`x-gw-dropped\` (\`unsupported: reject\` in \`with\` makes it a 400). Each word of a \`preset\` can be set by itself under \`with\`: [\`gateway.reference.yaml\`](gateway.reference.yaml) has all of them.

This page is made from the presets that the gateway runs with: \`npm run build:providers\`.
`;

const legend = `**tools**: "no choice by name" takes \`auto\`, \`none\` and \`required\` alone; "not forced" takes \`auto\` alone. **thinking**: "sent back" means that the provider's thinking is returned to it on later turns, in an envelope that only the gateway opens. **token count**: "estimate" is answered by the gateway, marked with \`x-gw-estimated\`. **prompt caching**: "the provider's own" needs no markers, and those of a caller are left out.`;
