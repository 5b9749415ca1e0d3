import type { Section } from '#src/config/sections/section.js';
import { sections } from '#src/config/sections/sections.js';
import { isRecord } from '#src/kit/schema/record.js';
import type { Fact, Facts } from './facts.js';
import { inline } from './reference.js';

/**
 * A guide with the tables of its settings as the schemas have them. A table stands below `<!-- settings: NAME … -->`, whose
 * names are keys such as `listen`, or `listen.webSockets`, which the table of `listen` lacks then.
 */
export function writeTables(text: string, facts: Facts): string {
  return text.replaceAll(table, (_, head: string, names: string) => {
    const rows = names.split(' ').flatMap((name) => rowsOf(name, facts));
    return [
      head,
      '',
      '| setting | default | taken by | what it does |',
      '|---|---|---|---|',
      ...rows,
      '',
      end,
    ].join('\n');
  });
}

const end = '<!-- end of settings -->';
const table = new RegExp(`(<!-- settings: ([\\w. ]+) -->)\\n[^]*?${end}`, 'g');

function rowsOf(name: string, facts: Facts): readonly string[] {
  const own = [...facts].filter(([path]) => path === name || path.startsWith(`${name}.`));
  return own.flatMap(([path, fact]) => {
    const isElsewhere =
      path !== name && elsewhere.some((other) => path === other || path.startsWith(`${other}.`));
    return isElsewhere && !elsewhere.includes(name) ? [] : rowOf(path, fact);
  });
}

/** Settings with a table in another guide than their section. */
const elsewhere = ['listen.webSockets'];

function rowOf(path: string, { words, initial }: Fact): readonly string[] {
  if (words === undefined) return [];
  const cells = [`\`${path}\``, defaultOf(initial), takenBy(path), firstSentence(words)];
  return [`| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`];
}

function defaultOf(initial: unknown): string {
  if (initial === undefined || (isRecord(initial) && Object.keys(initial).length === 0)) return '';
  return `\`${inline(initial)}\``;
}

function takenBy(path: string): 'reload' | 'restart' {
  const [name = '', key = ''] = path.split('.');
  const section = new Map<string, Section>(Object.entries(sections)).get(name);
  return section?.needsRestart === true && !section.reloaded.has(key) ? 'restart' : 'reload';
}

/** The first sentence of words; the reference config has all of them. */
function firstSentence(words: string): string {
  const [sentence = words] = /^.*?[.](?= )|^.*$/.exec(words) ?? [];
  return sentence.replaceAll('*', String.raw`\*`);
}
