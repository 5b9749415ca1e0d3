import type { styleText } from 'node:util';

/** Paints a text for a terminal, or leaves it. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

/** Max characters of a value in a line. */
const maxLength = 300;

/** A JSON value in one line. */
export function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > maxLength ? `${text.slice(0, maxLength)}… (${text.length} characters)` : text;
}
