import { isRecord } from './record.js';
import { itemSchemas, keySchemas, schemaBranches } from './schema-branches.js';

type Path = readonly (string | number)[];

/**
 * Paths of the options that their JSON Schema marks with `local: true`, in whichever of its branches: they make the
 * gateway read a file, the environment or the identity of its own machine.
 */
export function localPaths(options: unknown, schema: unknown): readonly Path[] {
  return pathsIn(options, [schema], schema, []);
}

function pathsIn(value: unknown, own: readonly unknown[], root: unknown, path: Path): readonly Path[] {
  if (value === undefined) return [];
  const schemas = schemaBranches(own, root) ?? [];
  if (schemas.some(({ local }) => local === true)) return [path];
  if (Array.isArray(value)) {
    const items = schemas.flatMap(itemSchemas);
    return value.flatMap((item: unknown, at) => pathsIn(item, items, root, [...path, at]));
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const described = schemas.flatMap((schema) => keySchemas(schema, key));
    return pathsIn(inner, described, root, [...path, key]);
  });
}
