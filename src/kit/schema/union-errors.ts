import type { ErrorObject } from 'ajv';

/**
 * Reduces each failed union to one error: that of the branch that got furthest. The union's own error is
 * never useful.
 */
export function oneForEachUnion(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  const [first, ...others] = unions;
  if (!first) return errors;
  const outer = others.reduce((a, b) => (a.schemaPath.length <= b.schemaPath.length ? a : b), first);
  const within = errors.filter((error) => error !== outer && isWithin(error, outer));
  const outside = errors.filter((error) => error !== outer && !within.includes(error));
  return [...oneForEachUnion(outside), furthest(outer, within)];
}

/**
 * True for an error of a branch of `outer`. Compares the paths too: items of one array share a schema, but
 * not their unions.
 */
function isWithin(error: ErrorObject, outer: ErrorObject): boolean {
  const isBelow = `${error.instancePath}/`.startsWith(`${outer.instancePath}/`);
  return isBelow && error.schemaPath.startsWith(`${outer.schemaPath}/`);
}

function furthest(outer: ErrorObject, within: readonly ErrorObject[]): ErrorObject {
  const below = within.filter(({ instancePath }) => instancePath.length > outer.instancePath.length);
  const depth = Math.max(...below.map(depthOf));
  const deepest = below.filter((error) => depthOf(error) === depth);
  // A branch whose tag has another value was not meant.
  const others = new Set(
    below.filter(({ keyword }) => keyword === 'const').map((error) => branchOf(error, outer)),
  );
  const meant = deepest.find((error) => !others.has(branchOf(error, outer)));
  return meant ?? deepest[0] ?? unionError(outer, within);
}

/** Index of the union's branch that an error is of. */
function branchOf({ schemaPath }: ErrorObject, outer: ErrorObject): string {
  return schemaPath.slice(outer.schemaPath.length + 1).split('/', 1)[0] ?? '';
}

function depthOf({ instancePath }: ErrorObject): number {
  return instancePath.split('/').length;
}

/**
 * Picks the error of a branch whose type fits; without one, reports the types or values that the branches
 * accept.
 */
function unionError(outer: ErrorObject, within: readonly ErrorObject[]): ErrorObject {
  const here = within.filter(({ instancePath }) => instancePath === outer.instancePath);
  const fitting = here.find(({ keyword }) => !['type', 'const', 'anyOf', 'oneOf'].includes(keyword));
  if (fitting) return fitting;
  const types = here.filter(({ keyword }) => keyword === 'type');
  const constants = here.filter(({ keyword }) => keyword === 'const');
  if (types.length > 0)
    return { ...outer, keyword: 'type', params: { type: types.map(({ params }) => params['type']) } };
  if (constants.length === 0) return outer;
  return {
    ...outer,
    keyword: 'enum',
    params: { allowedValues: constants.map(({ params }) => params['allowedValue']) },
  };
}
