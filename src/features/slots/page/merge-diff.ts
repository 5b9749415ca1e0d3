type Json = Readonly<Record<string, unknown>>;

/** Merge patch (RFC 7396) that makes `after` of `before`; equal parts are left out, redacted secrets among them. */
export function mergeDiff(before: Json, after: Json): Json {
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  const changed = Object.entries(after)
    .filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key]))
    .map(([key, value]) => {
      const old = before[key];
      return [key, isObject(value) && isObject(old) ? mergeDiff(old, value) : value] as const;
    });
  return Object.fromEntries([...changed, ...removed.map((key) => [key, null] as const)]);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
