import type { SchemaError } from '@gw2api/gateway/plugin/upstream';

/** Error of options of which there must be exactly one. */
export function oneOfErrors(options: object, names: readonly string[]): readonly SchemaError[] {
  const given = Object.entries(options).filter(
    ([name, value]) => names.includes(name) && value !== undefined,
  );
  if (given.length === 1) return [];
  return [{ path: [], message: `must have one of ${names.join(', ')}, and has ${given.length || 'none'}` }];
}
