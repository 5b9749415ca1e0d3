import type { Static, TSchema } from 'typebox';
import { GatewayError, Type } from '@gw2api/gateway/plugin';
import { compileCheck, formatPath } from '@gw2api/gateway/plugin/format';

/**
 * Validator of a request body, or of its part at `path`, compiled on first use. Returns the value itself, or
 * throws `invalid_request` with the first wrong field: `messages[2].content: must be a string`.
 */
export function bodyCheck<Schema extends TSchema>(
  schema: Schema,
): (value: unknown, path?: string) => Static<Schema> {
  const check = lazy(() => compileCheck(schema));
  return (value, path = '') => {
    const [error] = check()(value);
    if (error) throw invalidField(joinPath(path, error.path), error.message);
    return value as Static<Schema>; // the check has passed
  };
}

/** `invalid_request` about one field of the caller's body. */
export function invalidField(path: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${path}: ${message}`);
}

/** Value of a required field; throws `invalid_request` if it is absent or null. */
export function required<Value>(value: Value | null | undefined, path: string): Value {
  if (value === null || value === undefined) throw invalidField(path, 'is required');
  return value;
}

/** An optional field of one of the given types, for which clients also write null. */
export function nullable<const Schemas extends readonly TSchema[]>(...schemas: Schemas) {
  return Type.Optional(Type.Union([...schemas, Type.Null()]));
}

/** Body fields that Chat Completions and Completions share: sampling, stopping, streaming and the user. */
export const completionFields = {
  stop: nullable(Type.String(), Type.Array(Type.String())),
  stream: nullable(Type.Boolean()),
  stream_options: nullable(
    Type.Object({ include_usage: nullable(Type.Boolean()), include_obfuscation: nullable(Type.Boolean()) }),
  ),
  temperature: nullable(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: nullable(Type.Integer({ minimum: 0 })),
  user: nullable(Type.String()),
};

const limits = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'top_k'] as const;

/** A body without limits of -1, by which clients of llama.cpp and LM Studio mean "no limit". */
export function withoutNoLimits(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const absent = limits.filter((name) => body[name] === -1);
  if (absent.length === 0) return body;
  const limited: Record<string, unknown> = { ...body };
  for (const name of absent) delete limited[name];
  return limited;
}

/** An object without those of its fields that are undefined. */
export function present<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  const given: Partial<Fields> = {};
  for (const name in fields) if (fields[name] !== undefined) given[name] = fields[name];
  // Only undefined fields are gone, which is what the type says.
  return given as { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function joinPath(path: string, rest: readonly (string | number)[]): string {
  if (path === '' || rest.length === 0) return path || formatPath(rest);
  return typeof rest[0] === 'number' ? `${path}${formatPath(rest)}` : `${path}.${formatPath(rest)}`;
}

function lazy<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}
