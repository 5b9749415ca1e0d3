import type { ErrorObject } from 'ajv';

/**
 * Of the errors of a union's branches only the one that got furthest says something, and the union's own error never
 * does: one error is left of each union that does not fit.
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

/** Of the same place or below it: items of one array share their schema, but not their unions. */
function isWithin(error: ErrorObject, outer: ErrorObject): boolean {
  const isBelow = `${error.instancePath}/`.startsWith(`${outer.instancePath}/`);
  return isBelow && error.schemaPath.startsWith(`${outer.schemaPath}/`);
}

function furthest(outer: ErrorObject, within: readonly ErrorObject[]): ErrorObject {
  const below = within.filter(({ instancePath }) => instancePath.length > outer.instancePath.length);
  const depth = Math.max(...below.map(depthOf));
  return below.find((error) => depthOf(error) === depth) ?? unionError(outer, within);
}

function depthOf({ instancePath }: ErrorObject): number {
  return instancePath.split('/').length;
}

/** A branch whose type fits knows best what is wrong; where none does, it is the type. */
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
