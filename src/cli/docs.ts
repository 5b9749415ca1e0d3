import { configTests } from '../features/config-tests.js';
import type { Environment } from '../config/environment.js';
import { readConfig, readConfigFile } from '../config/load.js';
import { otherFile } from '../gateway/load-config.js';
import { configSchema } from '../engine/pipeline/load/config-schema.js';
import { builtinPlugins, listPlugins, type ListedPlugin } from '../engine/pipeline/load/listed-plugins.js';
import { builtinFolder } from '../engine/pipeline/load/import/resolve.js';
import { optionFields, type OptionField } from '../engine/pipeline/load/option-fields.js';

export interface Docs {
  readonly text: string;
  /** 1 if a plugin could not be loaded. */
  readonly exitCode: 0 | 1;
}

/**
 * The options of the plugins that a config loads as Markdown; or the JSON Schema of a config with theirs and those
 * of all built-ins. Throws a ConfigError if the config cannot be read.
 */
export async function docs(file: string, env: Environment, isSchema: boolean): Promise<Docs> {
  const config = readConfig(await readConfigFile(file, env, otherFile));
  const where = { baseDir: config.baseDir, builtins: builtinFolder };
  const listed = await listPlugins(config, where);
  const valid = listed.filter(({ problem }) => problem === undefined);
  const failed = listed.filter(({ problem }) => problem !== undefined);
  for (const { kind, use, problem } of failed) process.stderr.write(`The ${kind} "${use}" ${problem}.\n`);
  const text = isSchema
    ? `${JSON.stringify(configSchema(distinct([...(await builtinPlugins(where)), ...valid]), await configTests.definitions()), null, 2)}\n`
    : pluginsMarkdown(file, distinct(valid));
  return { text, exitCode: failed.length > 0 ? 1 : 0 };
}

function distinct(plugins: readonly ListedPlugin[]): readonly ListedPlugin[] {
  return [...new Map(plugins.map((plugin) => [`${plugin.kind} ${plugin.use}`, plugin])).values()];
}

/** The options of plugins as Markdown, a table for each. */
function pluginsMarkdown(file: string, plugins: readonly ListedPlugin[]): string {
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
