import type { TSchema } from 'typebox';
import { plainSchema } from '../../kit/schema/json-schema.js';
import { schemaNames } from '../../operator/schemas.js';

type Json = Readonly<Record<string, unknown>>;

/** A schema in which the keyword `names` is replaced by an enumeration. */
export function withNames(schema: Json, known: Readonly<Record<string, readonly string[]>>): Json {
  const { names, pattern: _, minLength: __, maxLength: ___, ...rest } = schema;
  return typeof names === 'string' && known[names] ? { ...rest, enum: known[names] } : schema;
}

/** The named schemas by name. */
export function namedSchemas(): Readonly<Record<string, unknown>> {
  const entries = [...schemaNames].map(([schema, name]) => [name, plainSchema(schema, schemaNames)] as const);
  return Object.fromEntries(entries);
}

/** Description of a route: words and schemas. */
export interface DescribedRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path in the syntax of the routers: `/v1/models/:id`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly access: 'open' | 'key' | 'master' | 'admin' | 'panel';
  /** Scope that an admin token needs. */
  readonly scope?: string;
  readonly query?: object;
  /** Request headers by name, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Schemas by status; null: no body. */
  readonly answers: Readonly<Record<number, TSchema | object | null>>;
  /** Content types of the answer; default: JSON only. */
  readonly answerTypes?: readonly string[];
  /** True for a route of browsers, whose errors are pages. */
  readonly hasErrorPages?: true;
}
