type Json = Readonly<Record<string, unknown>>;

/**
 * A merge patch (RFC 7396) laid over an object: null takes away, objects are merged, anything else replaces. What comes
 * back as it was `shown` (a blanked secret) stays what it is. New objects throughout, whatever the keys are called.
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
