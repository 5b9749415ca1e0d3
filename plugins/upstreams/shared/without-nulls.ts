/** Fields whose values are the caller's own data, in which null says something. */
const opaque: ReadonlySet<string> = new Set(['input', 'input_schema', 'input_examples', 'schema']);

/** Field in which null is a value: a tool of another format leaves it to the server whether it is strict. */
const nullable = 'strict';

/**
 * Part of a Messages request without the fields that are null, which means "not set". The part itself if there is
 * none; its depth is that of a body that was parsed.
 */
export function withoutNulls<Value>(value: Value): Value {
  if (Array.isArray(value)) return unlessEqual(value, value.map(withoutNulls));
  return isObject(value) ? (fieldsWithoutNulls(value) as Value) : value; // fewer optional fields, the same type
}

function fieldsWithoutNulls(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let kept: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(fields)) {
    if (name === nullable) continue;
    const given = opaque.has(name) ? (value ?? undefined) : withoutNulls(value ?? undefined);
    if (given === value) continue;
    kept ??= { ...fields };
    if (given === undefined) delete kept[name];
    else kept[name] = given;
  }
  return kept ?? fields;
}

function unlessEqual<Value extends readonly unknown[]>(before: Value, after: readonly unknown[]): Value {
  return after.every((item, at) => item === before[at]) ? before : (after as unknown as Value); // mapped one by one
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
