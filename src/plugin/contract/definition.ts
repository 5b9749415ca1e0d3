import { didYouMean } from '../../kit/schema/did-you-mean.js';

/** Level of the plugin contract; a plugin may name the one that it was written for. */
export type ApiLevel = 1;

const apiLevel: ApiLevel = 1;

/** Names of the fields of a definition. */
export type Fields = Readonly<Record<string, true>>;

/**
 * Fault of a definition that has an unknown field or was written for another level, in words that continue
 * its name; undefined if it has none.
 */
export function definitionFault(definition: object, fields: Fields): string | undefined {
  const unknown = Object.keys(definition).find((field) => !Object.hasOwn(fields, field));
  if (unknown !== undefined) return `has the unknown field "${unknown}"; ${cureOf(unknown, fields)}`;
  const level: unknown = 'api' in definition ? definition.api : undefined;
  if (level === undefined || level === apiLevel) return undefined;
  const cure = 'take a version of the plugin, or of gw2api, that fits the other one';
  return `has \`api: ${JSON.stringify(level)}\`, but the plugin API of this gateway has level ${apiLevel}; ${cure}`;
}

/** Throws the fault of a definition, with its kind and name. */
export function checkDefinition(
  kind: string,
  definition: object & { readonly name: string },
  fields: Fields,
): void {
  const fault = definitionFault(definition, fields);
  if (fault !== undefined) throw new TypeError(`${kind} "${definition.name}" ${fault}`);
}

function cureOf(unknown: string, fields: Fields): string {
  const known = Object.keys(fields);
  const meant = didYouMean(unknown, known);
  return meant ? `did you mean "${meant}"?` : `there are ${known.join(', ')}`;
}
