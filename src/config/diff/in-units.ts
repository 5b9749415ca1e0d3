import { isRecord } from '../../kit/schema/record.js';
import { units } from '../../kit/schema/units.js';

/**
 * Copy of options with durations, sizes, times and percentages as numbers, as far as their schema names the unit: one
 * may be written in several ways. Follows properties and items.
 */
export function inUnits(value: unknown, schema: unknown): unknown {
  if (!isRecord(schema)) return value;
  const { unit, properties, items } = schema;
  if (isUnit(unit)) return units[unit].parse(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => inUnits(item, items));
  if (!isRecord(value) || !isRecord(properties)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      Object.hasOwn(properties, key) ? inUnits(inner, properties[key]) : inner,
    ]),
  );
}

function isUnit(name: unknown): name is keyof typeof units {
  return typeof name === 'string' && Object.hasOwn(units, name);
}
