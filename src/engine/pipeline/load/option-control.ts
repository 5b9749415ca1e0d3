import { isRecord } from '../../../kit/schema/record.js';

type Schema = Readonly<Record<string, unknown>>;

/** Control of a form that a value is entered with; `texts`: a map of texts, `map`: one of other values. */
export type Control = 'text' | 'number' | 'boolean' | 'choice' | 'list' | 'texts' | 'map' | 'json';

/** Control for the values of a schema; `json` where no other one can write all of them. */
export function controlOf(schema: Schema): Control {
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
export function choicesOf({ enum: values, anyOf = [] }: Schema): readonly unknown[] {
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
