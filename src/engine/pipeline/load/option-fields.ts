import { isRecord } from '../../../kit/schema/record.js';

type Schema = Readonly<Record<string, unknown>>;

/** An option in the words of its schema. */
export interface OptionField {
  /** Keys from the root of the options. */
  readonly keys: readonly string[];
  /** `duration`, `integer`, `string or array`. */
  readonly type: string;
  /** Allowed values; empty if any value of the type is allowed. */
  readonly values: readonly unknown[];
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** Undefined if the schema has none. */
  readonly initial: unknown;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** True for an option that only the config file may set, as it reads the gateway's own machine. */
  readonly isLocal: boolean;
  readonly control: Control;
  /** True for an object whose keys follow as options of their own. */
  readonly hasFields: boolean;
}

/** The options that a schema describes, nested ones after the object that they are in. */
export function optionFields(
  schema: unknown,
  keys: readonly string[] = [],
  parent: Schema = {},
): readonly OptionField[] {
  const required = isRecord(schema) && Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(propertiesOf(schema)).flatMap(([name, property]) => {
    if (!isRecord(property)) return [];
    const own = [...keys, name];
    const {
      title,
      description,
      default: initial,
      secret = parent['secret'],
      local = parent['local'],
    } = property;
    const inner = optionFields(property, own, { secret, local });
    return [
      {
        keys: own,
        type: typeOf(property),
        values: choicesOf(property),
        title: typeof title === 'string' ? title : undefined,
        description: typeof description === 'string' ? description : undefined,
        initial,
        isRequired: required.includes(name) && initial === undefined,
        isSecret: secret === true,
        isLocal: local === true,
        control: controlOf(property),
        hasFields: inner.length > 0,
      },
      ...inner,
    ];
  });
}

/** Properties of a schema and of its alternatives; of two with one name, the first. */
function propertiesOf(schema: unknown): Schema {
  if (!isRecord(schema)) return {};
  const alternatives = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => schema[keyword] ?? []);
  const maps = [schema['properties'], ...alternatives.map(propertiesOf)];
  const all = maps.flatMap((map) => Object.entries(isRecord(map) ? map : {}));
  return Object.fromEntries(all.filter(([name], at) => all.findIndex(([other]) => other === name) === at));
}

function typeOf({ type, unit }: Schema): string {
  return typeof unit === 'string' ? unit : [type].flat().filter(Boolean).join(' or ') || 'any';
}

/** Form control for a value; `texts`: a map of texts, `map`: one of other values. */
type Control = 'text' | 'number' | 'boolean' | 'choice' | 'list' | 'texts' | 'map' | 'json';

/** Control for the values of a schema; `json` if no other one can express all of them. */
function controlOf(schema: Schema): Control {
  if (choicesOf(schema).length > 0) return 'choice';
  const types = [schema['type']].flat();
  if (schema['unit'] !== undefined || (types.includes('string') && types.every(isPlain))) return 'text';
  const [type, second] = types;
  if (second !== undefined) return 'json';
  if (type === 'number' || type === 'integer') return 'number';
  if (type === 'boolean') return 'boolean';
  if (type === 'array') return isTexts(schema['items']) ? 'list' : 'json';
  return type === 'object' ? objectControl(schema) : 'json';
}

/** The only values that a schema takes, if it names them. */
function choicesOf({ enum: values, anyOf = [] }: Schema): readonly unknown[] {
  if (Array.isArray(values)) return values;
  const constants = [anyOf].flat().filter((each) => isRecord(each) && 'const' in each);
  return constants.length === [anyOf].flat().length
    ? constants.map((each) => (each as { const: unknown }).const)
    : []; // it has one
}

function objectControl({ additionalProperties, patternProperties }: Schema): Control {
  const [values] = isRecord(patternProperties) ? Object.values(patternProperties) : [additionalProperties];
  if (!isRecord(values)) return 'json';
  return isTexts(values) ? 'texts' : 'map';
}

/** True for the types of texts, and of numbers that may be written as texts. */
function isPlain(type: unknown): boolean {
  return type === 'string' || type === 'number' || type === 'integer';
}

function isTexts(schema: unknown): boolean {
  return isRecord(schema) && schema['type'] === 'string' && choicesOf(schema).length === 0;
}
