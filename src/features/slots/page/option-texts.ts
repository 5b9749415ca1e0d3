import type { SlotField } from './api.js';

/** Text that the API sends instead of a redacted secret. */
export const blank = '***';

/** Text of an option as its control shows it; secrets are empty. */
export function textOf({ control, secret }: SlotField, value: unknown): string {
  if (value === undefined || value === null || value === blank) return '';
  if (control === 'choice') return JSON.stringify(value);
  if (control === 'list') return [value].flat().map(String).join(', ');
  if (control === 'texts' || control === 'map') return linesOf(value);
  if (secret) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Value of the typed text; undefined for an option that is not set. */
export function valueOf({ control }: SlotField, typed: string): unknown {
  const text = typed.trim();
  if (text === '') return undefined;
  if (control === 'number') return Number.isFinite(Number(text)) ? Number(text) : text;
  if (control === 'boolean' || control === 'choice' || control === 'json') return jsonOr(text);
  if (control === 'list') return text.split(/[\s,]+/).filter(Boolean);
  if (control === 'texts') return entriesOf(text, (each) => each);
  return control === 'map' ? entriesOf(text, jsonOr) : text;
}

/** `name: value` for each entry of a map, one per line. */
export function linesOf(map: unknown): string {
  return Object.entries(Object(map) as object)
    .map(
      ([name, value]: [string, unknown]) =>
        `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )
    .join('\n');
}

/** Map of lines such as `name: value`. */
export function entriesOf<Value>(
  text: string,
  read: (value: string) => Value,
): Readonly<Record<string, Value>> {
  const lines = text.split('\n').filter((line) => line.trim());
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':');
      return [name.trim(), read(value.join(':').trim())];
    }),
  );
}

/** JSON of a text; invalid JSON stands for itself. */
function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
