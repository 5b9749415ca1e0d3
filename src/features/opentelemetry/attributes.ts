import type { Attributes } from '@opentelemetry/api';

/** Attribute of a span: none if its value is undefined, or its key is null in the chosen naming. */
export type AttributeEntry = readonly [key: string | null, value: Value | undefined];

type Value = string | number | boolean | readonly string[];

/** Attributes of a span, of bounded length. */
export function attributesOf(entries: readonly AttributeEntry[]): Attributes {
  const attributes: Attributes = {};
  for (const [key, value] of entries) {
    if (key !== null && value !== undefined) attributes[key] = bounded(value);
  }
  return attributes;
}

function bounded(value: Value): string | number | boolean | string[] {
  if (typeof value === 'string') return cut(value);
  if (typeof value === 'number') return isWritable(value) ? value : String(value);
  return typeof value === 'boolean' ? value : value.map(cut);
}

/** True for a finite number, an integer only if it is safe; a collector rejects the whole export for any other. */
function isWritable(value: number): boolean {
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
}

/** Text of at most 500 characters, which every collector takes. */
export function cut(text: string): string {
  return isShort(text) ? text : text.slice(0, 500).toWellFormed(); // half a pair is no UTF-8
}

function isShort(text: string): boolean {
  return text.length <= 500 && text.isWellFormed();
}
