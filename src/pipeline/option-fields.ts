import { isRecord } from '../plugin/internal.js';

type Schema = Readonly<Record<string, unknown>>;

/** An option in the words of its schema. */
export interface OptionField {
  /** Keys from the root of the options. */
  readonly keys: readonly string[];
  /** `duration`, `integer`, `string or array`. */
  readonly type: string;
  /** The only values that it may have; empty: any of its type. */
  readonly values: readonly unknown[];
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** Undefined where the schema has none. */
  readonly initial: unknown;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** True for an object whose keys follow as options of their own. */
  readonly hasFields: boolean;
}

/** The options that a schema describes, nested ones after the object that they are in. */
export function optionFields(schema: unknown, keys: readonly string[] = []): readonly OptionField[] {
  const required = isRecord(schema) && Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(propertiesOf(schema)).flatMap(([name, property]) => {
    if (!isRecord(property)) return [];
    const own = [...keys, name];
    const inner = optionFields(property, own);
    const { title, description, default: initial, secret } = property;
    return [
      {
        keys: own,
        type: typeOf(property),
        values: valuesOf(property),
        title: typeof title === 'string' ? title : undefined,
        description: typeof description === 'string' ? description : undefined,
        initial,
        isRequired: required.includes(name) && initial === undefined,
        isSecret: secret === true,
        hasFields: inner.length > 0,
      },
      ...inner,
    ];
  });
}

function propertiesOf(schema: unknown): Schema {
  return isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {};
}

function typeOf({ type, unit }: Schema): string {
  return typeof unit === 'string' ? unit : [type].flat().filter(Boolean).join(' or ') || 'any';
}

/** The only values that a schema takes, if it names them. */
function valuesOf({ enum: values, anyOf = [] }: Schema): readonly unknown[] {
  if (Array.isArray(values)) return values;
  const constants = [anyOf].flat().filter((each) => isRecord(each) && 'const' in each);
  return constants.length === [anyOf].flat().length
    ? constants.map((each) => (each as { const: unknown }).const)
    : []; // it has one
}
