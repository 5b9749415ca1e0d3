/** Part of a body with very many unknown fields, and the number of looks at them. */
export interface CountedPart {
  readonly part: Readonly<Record<string, unknown>>;
  readonly looks: () => number;
}

/** A part with these fields and as many unknown ones. */
export function countedPart(known: object, unknown: number): CountedPart {
  let count = 0;
  const names = Array.from({ length: unknown }, (_, nth) => [`f${nth}`, 1] as const);
  const part = new Proxy<Readonly<Record<string, unknown>>>(
    { ...known, ...Object.fromEntries(names) },
    {
      get(target, name) {
        if (typeof name === 'string' && /^f\d/.test(name)) count += 1;
        return target[String(name)];
      },
    },
  );
  return { part, looks: () => count };
}
