type Json = Readonly<Record<string, unknown>>;

/**
 * Applies a merge patch (RFC 7396): null deletes, objects are merged, any other value replaces; a value equal
 * to the `shown` one (a redacted secret) is kept. Builds new objects throughout, safe for any key name.
 */
export function mergePatch(target: Json, patch: Json, shown: Json): Json {
  const kept = Object.entries(target).filter(([key]) => !Object.hasOwn(patch, key));
  const changed = Object.entries(patch)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => [key, merged(own(target, key), value, own(shown, key))] as const);
  return Object.fromEntries([...kept, ...changed]);
}

function merged(before: unknown, value: unknown, shown: unknown): unknown {
  if (before !== undefined && JSON.stringify(value) === JSON.stringify(shown)) return before;
  if (!isObject(value)) return value;
  return mergePatch(isObject(before) ? before : {}, value, isObject(shown) ? shown : {});
}

function own(object: Json, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
