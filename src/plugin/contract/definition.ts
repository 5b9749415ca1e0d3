import { didYouMean } from '../../kit/schema/did-you-mean.js';

/** Level of the plugin contract; a plugin may name the one that it was written for. */
export type ApiLevel = 1;

const apiLevel: ApiLevel = 1;

/** Form of a definition: its kind in messages, the names of its fields, and its defaults. */
export interface DefinitionForm<Given, Defined> {
  readonly kind: string;
  readonly fields: Fields;
  /** Fills in the defaults; also of a plain object that was not made by a `define` function. */
  normalize(given: Given): Defined;
}

type Fields = Readonly<Record<string, true>>;

/**
 * Fault of a definition with an unknown field or for another level, phrased to follow its name; undefined if it has
 * none.
 */
export function definitionFault(
  definition: object,
  { fields }: { readonly fields: Fields },
): string | undefined {
  const unknown = Object.keys(definition).find((field) => !Object.hasOwn(fields, field));
  if (unknown !== undefined) return `has the unknown field "${unknown}"; ${cureOf(unknown, fields)}`;
  const level: unknown = 'api' in definition ? definition.api : undefined;
  if (level === undefined || level === apiLevel) return undefined;
  const cure = 'use versions of the plugin and of gw2api that fit each other';
  return `has \`api: ${JSON.stringify(level)}\`, but the plugin API of this gateway has level ${apiLevel}; ${cure}`;
}

/** The definition with its defaults. Throws a TypeError for an unknown field, and for another level of the plugin API. */
export function defined<Given extends object & { readonly name: string }, Defined>(
  form: DefinitionForm<Given, Defined>,
  given: Given,
): Defined {
  const fault = definitionFault(given, form);
  if (fault !== undefined) throw new TypeError(`${form.kind} "${given.name}" ${fault}`);
  return form.normalize(given);
}

function cureOf(unknown: string, fields: Fields): string {
  const known = Object.keys(fields);
  const meant = didYouMean(unknown, known);
  return meant ? `did you mean "${meant}"?` : `there are ${known.join(', ')}`;
}
