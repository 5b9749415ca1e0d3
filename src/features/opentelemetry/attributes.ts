export type AttributeValue = string | number | boolean | readonly string[];

/**
 * JSON of an attribute with a comma before it, as OTLP maps it; '' for an undefined value, or where `key` is null: a
 * naming without that attribute. Text is built at once: objects for some hundred attributes would cost more than the
 * rest of a trace.
 */
export function attribute(key: string | null, value: AttributeValue | undefined): string {
  return key === null || value === undefined ? '' : `,{"key":"${key}","value":${valueJson(value)}}`;
}

/** JSON array of attributes, or of values, that have a comma before each. */
export function listJson(items: string): string {
  return `[${items.slice(1)}]`;
}

function valueJson(value: AttributeValue): string {
  if (typeof value === 'string') return `{"stringValue":${textJson(value)}}`;
  if (typeof value === 'number') return numberJson(value);
  if (typeof value === 'boolean') return `{"boolValue":${value}}`;
  const values = value.map((text) => `{"stringValue":${textJson(text)}}`);
  return `{"arrayValue":{"values":[${values.join(',')}]}}`;
}

/** Integer as text, as int64 is written; one beyond int64, or a text of infinity, would not be a number to a collector. */
function numberJson(value: number): string {
  if (Number.isSafeInteger(value)) return `{"intValue":"${value}"}`;
  return `{"doubleValue":${Number.isFinite(value) ? value : `"${value}"`}}`;
}

/** JSON of a text of at most 500 characters, which every collector takes. */
export function textJson(text: string): string {
  return isPlain.test(text) ? `"${text}"` : JSON.stringify(cut(text));
}

/** Most texts: names, ids and paths, which are themselves in JSON. */
const isPlain = /^[\w .:/@-]{0,500}$/;

/** Text of at most 500 characters. */
export function cut(text: string): string {
  return text.slice(0, 500).toWellFormed(); // half a pair is not valid UTF-8
}
