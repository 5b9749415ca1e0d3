import { didYouMean } from '../../../kit/schema/did-you-mean.js';
import { isRecord } from '../../../kit/schema/record.js';

/** Keywords of a JSON Schema whose values are schemas, lists of them, or maps of them. */
const inner: ReadonlySet<string> = new Set([
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'oneOf',
  'prefixItems',
  'propertyNames',
  'then',
]);
const maps: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

const plain =
  '$comment $id $ref $schema const default dependentRequired deprecated description discriminator enum examples ' +
  'exclusiveMaximum exclusiveMinimum format local maxItems maxLength maxProperties maximum minItems minLength ' +
  'minProperties minimum multipleOf nullable pattern readOnly required secret title type uniqueItems unit writeOnly';
const known: ReadonlySet<string> = new Set([...inner, ...maps, ...plain.split(' ')]);

/**
 * Message about the first keyword of a schema that is one or two letters off a known one; undefined if there is none.
 * `place`: path of the schema, `options`.
 */
export function misspeltKeyword(schema: unknown, place: string, depth = 0): string | undefined {
  if (!isRecord(schema) || depth > maxDepth) return undefined;
  for (const [keyword, value] of Object.entries(schema)) {
    const meant = known.has(keyword) ? undefined : didYouMean(keyword, [...known]);
    if (meant !== undefined)
      return `has the keyword ${JSON.stringify(keyword)} in its schema of ${place}; did you mean ${JSON.stringify(meant)}?`;
    const fault = inKeyword(keyword, value, { place, depth });
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function inKeyword(
  keyword: string,
  value: unknown,
  { place, depth }: { readonly place: string; readonly depth: number },
): string | undefined {
  let schemas: readonly (readonly [place: string, schema: unknown])[] = [];
  if (maps.has(keyword) && isRecord(value))
    schemas = Object.entries(value).map(([name, schema]) => [`${place}.${name}`, schema]);
  else if (inner.has(keyword)) schemas = [value].flat().map((schema) => [place, schema]);
  for (const [at, schema] of schemas) {
    const fault = misspeltKeyword(schema, at, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Max depth of schemas to read, since one may contain itself. */
const maxDepth = 20;
