/** Place of a value within a body: `messages[0].content[1].text`. */
export interface Leaf {
  readonly path: string;
  readonly value: unknown;
}

/** All values of a body that are no lists or objects, and empty ones. */
export function leavesOf(value: unknown, path = ''): readonly Leaf[] {
  const inner = Object.entries(Object(value) as object); // any value may be read by name
  if (typeof value !== 'object' || inner.length === 0) return [{ path, value }];
  return inner.flatMap(([name, each]) => leavesOf(each, placeOf(path, name, Array.isArray(value))));
}

/** Paths of all objects of a body that are not within data of the caller: schemas, arguments, maps of any keys. */
export function objectsOf(value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null || isData(path)) return [];
  const inner = Object.entries(value).flatMap(([name, each]) =>
    objectsOf(each, placeOf(path, name, Array.isArray(value))),
  );
  return Array.isArray(value) ? inner : [path, ...inner];
}

const data =
  /(?:^|\.)(?:parameters|input_schema|schema|input|arguments|metadata|logit_bias|chat_template_kwargs)$/;

function isData(path: string): boolean {
  return data.test(path) && path !== 'input';
}

function placeOf(path: string, name: string, isItem: boolean): string {
  if (isItem) return `${path}[${name}]`;
  return path === '' ? name : `${path}.${name}`;
}

/** Names and indices of a path. */
function stepsOf(path: string): readonly string[] {
  return path.split(/[.[\]]+/).filter((step) => step !== '');
}

/** Values at a path; `*` stands for all items of a list. */
export function valuesAt(body: unknown, path: string): readonly unknown[] {
  return stepsOf(path).reduce<readonly unknown[]>(
    (found, step) =>
      found.flatMap((value) => {
        if (typeof value !== 'object' || value === null) return [];
        if (step === '*') return Array.isArray(value) ? value : [];
        return Object.hasOwn(value, step) ? [(value as Record<string, unknown>)[step]] : []; // read by name
      }),
    [body],
  );
}

/** Copy of a body with a field in the object at a path. */
export function withField(body: unknown, path: string, name: string, value: unknown): unknown {
  const copy: unknown = structuredClone(body);
  const [owner] = path === '' ? [copy] : valuesAt(copy, path);
  (owner as Record<string, unknown>)[name] = value; // the path of an object
  return copy;
}
