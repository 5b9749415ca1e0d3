import { isRecord } from './record.js';
import { itemSchemas, keySchemas, schemaBranches } from './schema-branches.js';

/** Text instead of a secret. */
export const blank = '***';

/**
 * Redacts a copy of options: values that any branch of their JSON Schema marks with `secret: true`, those of
 * undescribed keys, and those of an unresolvable `$ref`.
 */
export function redactMarked(value: unknown, schema: unknown): unknown {
  return redacted(value, [schema], schema);
}

/** Texts of options that their JSON Schema marks with `secret: true`, to keep them out of messages. */
export function markedTexts(value: unknown, schema: unknown): readonly string[] {
  return textsIn(value, redactMarked(value, schema));
}

/** Texts of a value that differ in its redacted copy. */
function textsIn(value: unknown, shown: unknown): readonly string[] {
  if (value === shown) return [];
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  const copy = Object(shown) as Readonly<Record<string, unknown>>; // of a marked object it has nothing
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, copy[key]));
}

function redacted(value: unknown, own: readonly unknown[], root: unknown): unknown {
  if (value === undefined) return value;
  const schemas = schemaBranches(own, root);
  if (schemas?.every(({ secret }) => secret !== true) !== true) return blank;
  if (Array.isArray(value)) {
    const items = schemas.flatMap(itemSchemas);
    return value.map((item: unknown) => redacted(item, items, root));
  }
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const described = schemas.flatMap((schema) => keySchemas(schema, key));
      return [key, described.length > 0 ? redacted(inner, described, root) : blank];
    }),
  );
}

/** Redacts the user, the password and the query values of every URL in a copy of a config. */
export function redactAddresses(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => redactAddresses(item));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactAddresses(inner)]));
  return typeof value === 'string' ? blankAddress(value) : value;
}

/** Redacts a URL by pattern: a parser would reject a password that is not percent-encoded. */
function blankAddress(text: string): string {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return text;
  return text.replace(/(:\/\/)[^/?#]*@/, `$1${blank}@`).replace(/([?&][^=&#?]*=)[^&#]*/g, `$1${blank}`);
}
