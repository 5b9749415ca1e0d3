import { isRecord } from '../kit/schema/record.js';

type Schema = Readonly<Record<string, unknown>>;

/**
 * A schema of the gateway for editors, which do not support units, secrets or local options: durations and sizes are
 * patterns, and each value may be a variable.
 */
export function editorSchema(schema: Schema): Schema {
  const {
    unit,
    secret: _,
    local: __,
    examples: ___,
    default: initial,
    description,
    required,
    ...rest
  } = schema;
  const inner = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, mapped(key, value)]));
  const plain = typeof unit === 'string' ? { ...inner, ...unitSchemas[unit] } : inner;
  return {
    ...requiredOf(required, rest['properties']),
    ...(takesVariable(plain) ? plain : { anyOf: [plain, variable] }),
    ...(initial !== undefined && { default: initial }),
    ...(description !== undefined && { description }),
  };
}

/** Required keys without those that have a default, which a config may leave out. */
function requiredOf(required: unknown, properties: unknown): Schema {
  if (!Array.isArray(required)) return {};
  const names = required.filter((name) => {
    const property: unknown = isRecord(properties) ? properties[String(name)] : undefined;
    return !isRecord(property) || property['default'] === undefined;
  });
  return names.length > 0 ? { required: names } : {};
}

function mapped(key: string, value: unknown): unknown {
  if (['properties', 'patternProperties'].includes(key) && isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, nested(each)]));
  if (['anyOf', 'oneOf', 'allOf'].includes(key) && Array.isArray(value)) return value.map(nested);
  return ['items', 'then', 'else', 'additionalProperties'].includes(key) ? nested(value) : value;
}

function nested(schema: unknown): unknown {
  return isRecord(schema) ? editorSchema(schema) : schema;
}

/** Schemas of values with a unit, by the unit's name. */
export const unitSchemas: Readonly<Record<string, Schema>> = {
  duration: { type: 'string', pattern: String.raw`^\d+(\.\d+)?\s*(ms|s|m|h|d)$` },
  size: { type: ['string', 'integer'], pattern: String.raw`^\d+(\.\d+)?\s*([bB]|[kKmMgG][bB])?$` },
  time: { type: ['string', 'integer'] },
  percentage: { type: 'string', pattern: String.raw`^\d+(\.\d+)?\s*%$` },
};

/** A text with a variable, which is replaced before the value is checked. */
const variable = { type: 'string', pattern: String.raw`\$\{` };

/** True for a schema that a text with a variable conforms to, or that contains such schemas. */
function takesVariable({ type, enum: values, const: value, pattern }: Schema): boolean {
  if (values !== undefined || value !== undefined || pattern !== undefined) return false;
  const types = [type].flat();
  const isWithin = types.every((one) => one === 'object' || one === 'array');
  return isWithin || types.some((one) => one === undefined || one === 'string');
}
