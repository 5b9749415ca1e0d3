/**
 * Validator of a value at `path`: returns the error in the words of the real service (`max_tokens: Field
 * required`), or undefined. A tagged object adds its tag to the path of its fields.
 */
export type Shape = (value: unknown, path: string) => string | undefined;

type Fields = Readonly<Record<string, Shape>>;

export const anything: Shape = () => undefined;

export const flag: Shape = (value, path) =>
  typeof value === 'boolean' ? undefined : `${path}: Input should be a valid boolean`;

export function text({ pattern, min = 0 }: { pattern?: RegExp; min?: number } = {}): Shape {
  return (value, path) => {
    if (typeof value !== 'string') return `${path}: Input should be a valid string`;
    if (value.length < min)
      return `${path}: String should have at least ${min} character${min === 1 ? '' : 's'}`;
    return pattern && !pattern.test(value)
      ? `${path}: String should match pattern '${pattern.source}'`
      : undefined;
  };
}

export function number({ min, max }: { min?: number; max?: number } = {}): Shape {
  return (value, path) => {
    if (typeof value !== 'number') return `${path}: Input should be a valid number`;
    if (min !== undefined && value < min) return `${path}: Input should be greater than or equal to ${min}`;
    return max !== undefined && value > max
      ? `${path}: Input should be less than or equal to ${max}`
      : undefined;
  };
}

export function whole(limits: { min?: number; max?: number } = {}): Shape {
  const inRange = number(limits);
  return (value, path) =>
    Number.isInteger(value) ? inRange(value, path) : `${path}: Input should be a valid integer`;
}

export function oneOf(...values: readonly string[]): Shape {
  const named = values.map((value) => `'${value}'`);
  const list = [named.slice(0, -1).join(', '), named.at(-1)].filter(Boolean).join(' or ');
  return (value, path) =>
    values.some((known) => known === value) ? undefined : `${path}: Input should be ${list}`;
}

export function nullable(shape: Shape): Shape {
  return (value, path) => (value === null ? undefined : shape(value, path));
}

export function list(item: Shape): Shape {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path}: Input should be a valid list`;
    return first(value, (entry, at) => item(entry, `${path}.${at}`));
  };
}

export function textOr(shape: Shape): Shape {
  return (value, path) => (typeof value === 'string' ? undefined : shape(value, path));
}

/** An object with these fields and no others. */
export function record(required: Fields, optional: Fields = {}): Shape {
  const known: Fields = { ...required, ...optional };
  return (value, path) => {
    if (!isObject(value)) return `${path}: Input should be an object`;
    const inside = path === '' ? '' : `${path}.`;
    return (
      first(Object.keys(required), (name) =>
        name in value ? undefined : `${inside}${name}: Field required`,
      ) ??
      first(Object.entries(value), ([name, field]) =>
        Object.hasOwn(known, name)
          ? known[name]?.(field, inside + name)
          : `${inside}${name}: Extra inputs are not permitted`,
      )
    );
  };
}

/** An object of which only these fields are checked. */
export function open(required: Fields): Shape {
  return (value, path) => {
    if (!isObject(value)) return `${path}: Input should be an object`;
    return first(Object.entries(required), ([name, shape]) =>
      name in value ? shape(value[name], `${path}.${name}`) : `${path}.${name}: Field required`,
    );
  };
}

/** An object whose field `tag` selects one of several shapes. */
export function tagged(tag: string, shapes: Fields): Shape {
  return (value, path) => {
    if (!isObject(value)) return `${path}: Input should be an object`;
    if (!(tag in value)) return `${path}.${tag}: Field required`;
    const given = value[tag];
    const found = typeof given === 'string' ? given : JSON.stringify(given);
    if (Object.hasOwn(shapes, found)) return shapes[found]?.(value, `${path}.${found}`);
    const expected = Object.keys(shapes)
      .map((name) => `'${name}'`)
      .join(', ');
    return `${path}: Input tag '${found}' found using '${tag}' does not match any of the expected tags: ${expected}`;
  };
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The first problem of any of the items. */
export function first<Item>(
  items: readonly Item[],
  check: (item: Item, at: number) => string | undefined,
): string | undefined {
  for (const [at, item] of items.entries()) {
    const problem = check(item, at);
    if (problem) return problem;
  }
  return undefined;
}
