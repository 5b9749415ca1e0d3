type Json = Readonly<Record<string, unknown>>;

/** A schema of ours as everybody's: `unit`, which only our own check knows, in words; what is no JSON left out. */
export function plainSchema(schema: object): Json {
  return plain(JSON.parse(JSON.stringify(schema))) as Json; // an object stays one
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, plain(inner)] as const);
  const { unit, ...rest } = Object.fromEntries(entries) as Json & { unit?: unknown };
  return typeof unit === 'string' && unit in units
    ? { ...units[unit], ...rest }
    : Object.fromEntries(entries);
}

const units: Readonly<Record<string, Json>> = {
  duration: { type: 'string', examples: ['500ms', '30s', '1h'] },
  size: { type: ['string', 'integer'], examples: ['512kb', '128mb'] },
  time: { type: ['string', 'integer'], examples: ['2026-01-01T12:00:00Z', 1767268800000] },
};
