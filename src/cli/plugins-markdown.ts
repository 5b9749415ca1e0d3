import type { ListedPlugin } from '../engine/pipeline/load/listed-plugins.js';
import { optionFields, type OptionField } from '../engine/pipeline/load/option-fields.js';

/** The options of plugins as Markdown, a table for each. */
export function pluginsMarkdown(file: string, plugins: readonly ListedPlugin[]): string {
  const sections = plugins.map(({ kind, name, use, options }) => {
    const rows = optionFields(options).map(rowOf);
    const head = [`## ${kind} ${name}`, ...(use === name ? [] : ['', `\`${use}\``])];
    const table = ['| option | type | default | meaning |', '|---|---|---|---|', ...rows];
    return [...head, '', ...(rows.length > 0 ? table : ['No options.']), ''].join('\n');
  });
  return [`# Plugins of ${file}`, '', ...sections].join('\n');
}

function rowOf({ keys, type, values, isSecret, initial, isRequired, description = '' }: OptionField): string {
  const name = values.length > 0 ? values.map(code).join(' | ') : type;
  const cells = [
    `\`${keys.join('.')}\``,
    isSecret ? `${name}, secret` : name,
    isRequired ? 'required' : code(initial),
    description,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
}

function code(value: unknown): string {
  return value === undefined ? '' : `\`${JSON.stringify(value)}\``;
}
