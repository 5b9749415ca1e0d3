import type { ListedPlugin } from '../pipeline/listed-plugins.js';
import { isRecord } from '../plugin/internal.js';

/** The options of plugins as Markdown, a table for each. */
export function pluginsMarkdown(
  file: string,
  plugins: readonly ListedPlugin[],
  descriptions: ReadonlyMap<string, string>,
): string {
  const sections = plugins.map(({ kind, name, use, options }) => {
    const rows = rowsOf(options, '', (path) => descriptions.get(`${kind} ${use}.${path}`));
    const head = [`## ${kind} ${name}`, ...(use === name ? [] : ['', `\`${use}\``])];
    const table = ['| option | type | default | meaning |', '|---|---|---|---|', ...rows];
    return [...head, '', ...(rows.length > 0 ? table : ['No options.']), ''].join('\n');
  });
  return [`# Plugins of ${file}`, '', ...sections].join('\n');
}

type Describe = (path: string) => string | undefined;

/** Rows of the properties of a schema, nested ones by their path. */
function rowsOf(schema: unknown, path: string, describe: Describe): readonly string[] {
  if (!isRecord(schema) || !isRecord(schema['properties'])) return [];
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(schema['properties']).flatMap(([name, property]) => {
    if (!isRecord(property)) return [];
    const place = path === '' ? name : `${path}.${name}`;
    const words =
      describe(place) ?? (typeof property['description'] === 'string' ? property['description'] : '');
    const initial = property['default'];
    const fallback = required.includes(name) && initial === undefined ? 'required' : code(initial);
    const cells = [`\`${place}\``, typeOf(property), fallback, words].map((cell) =>
      cell.replaceAll('|', String.raw`\|`),
    );
    return [`| ${cells.join(' | ')} |`, ...rowsOf(property, place, describe)];
  });
}

function typeOf(schema: Readonly<Record<string, unknown>>): string {
  const { type, unit, secret } = schema;
  const values = valuesOf(schema);
  const plain = [type].flat().filter(Boolean).join(' or ') || 'any';
  const name = typeof unit === 'string' ? unit : values.length > 0 ? values.map(code).join(' | ') : plain;
  return secret === true ? `${name}, secret` : name;
}

/** The only values that a schema takes, if it names them. */
function valuesOf({ enum: values, anyOf = [] }: Readonly<Record<string, unknown>>): readonly unknown[] {
  if (Array.isArray(values)) return values;
  const constants = [anyOf].flat().filter((each) => isRecord(each) && 'const' in each);
  return constants.length === [anyOf].flat().length
    ? constants.map((each) => (each as { const: unknown }).const)
    : []; // it has one
}

function code(value: unknown): string {
  return value === undefined ? '' : `\`${JSON.stringify(value)}\``;
}
