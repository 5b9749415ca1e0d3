import { Type, type TSchema } from 'typebox';
import type { Json as JsonValue } from '../contract/live.js';

/** Max size of a state, as JSON in UTF-8. */
export const maxStateBytes = 4096;

/** Any JSON value. */
export const Json = Type.Unsafe<JsonValue>({});

/** A schema as a document of its own: plain JSON, without the marks of TypeBox. */
export function documentOf(title: string, schema: TSchema): Readonly<Record<string, unknown>> {
  const plain = JSON.parse(JSON.stringify(schema)) as Record<string, unknown>; // a schema is an object
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title, ...plain };
}
