import type { SchemaError } from '../../plugin/upstream/index.js';
import type { Checked } from '../checked.js';
import { formatPlace, type ConfigProblem, type StageConfig } from '../config.js';
import type { Path } from '../document.js';
import { StageSchema } from '../stage-schema.js';
import { headerErrors } from './conditions.js';
import { isUnconditional, placesOf, type Place } from './entries.js';

/** Rules of entries that a schema cannot express. */
export function entryErrors(
  entries: readonly (readonly [entry: unknown, path: Path])[],
  isValid: Checked['isValid'],
): readonly SchemaError[] {
  return entries.flatMap(([entry, path]) => {
    const valid = placesOf(entry, path).filter((place) => isValid(place.path));
    return [
      ...groupErrors(entry, path),
      ...valid.flatMap((place) => headerErrors(place.entry.when, place.path)),
      ...valid.flatMap((place, at) => alternativeErrors(place, at === valid.length - 1)),
    ];
  });
}

/** Keys beside alternatives. */
function groupErrors(entry: unknown, path: Path): readonly SchemaError[] {
  const names = Object.keys(Object(entry) as object);
  const others = names.includes('oneOf') ? names.filter((name) => ownKeys.has(name)) : [];
  return others.map((name) => ({
    path: [...path, name],
    message: 'has no meaning beside "oneOf"; write it in each alternative it applies to',
  }));
}

const { name: _name, locked: _locked, ...ownProperties } = StageSchema.properties;
const ownKeys: ReadonlySet<string> = new Set(Object.keys(ownProperties));

/** Errors of an alternative: the last one takes all remaining requests, and only that one does. */
function alternativeErrors({ entry, path, groupPath }: Place, isLast: boolean): readonly SchemaError[] {
  if (!groupPath) return [];
  if (entry.locked !== undefined)
    return [{ path: [...path, 'locked'], message: 'must be beside "oneOf", for all its alternatives' }];
  if (isLast && entry.enabled === false)
    return [{ path: [...path, 'enabled'], message: `must not be false; ${lastTakesAll}` }];
  if (isLast)
    return isUnconditional(entry)
      ? []
      : [{ path: [...path, 'when'], message: `must not be here; ${lastTakesAll}` }];
  if (entry.enabled === false || !isUnconditional(entry)) return [];
  return [
    {
      path,
      message: 'has no "when", so the alternatives below it never run; give it one, or make it the last',
    },
  ];
}

const lastTakesAll = 'the last alternative takes all requests that the others do not';

/**
 * Problems of enabled stages of a list that share a name; one without a name has that of its plugin. `owner`: named
 * pipeline that must have brought one of both; undefined: the default pipeline.
 */
export function duplicateNames(stages: readonly StageConfig[], owner?: string): readonly ConfigProblem[] {
  const on = stages.filter(({ enabled, isBroken }) => enabled && isBroken !== true);
  return on.flatMap((stage, at) => {
    const { name } = stage;
    const other = on.find(
      (one, index) =>
        index !== at && (one.name === name ? index < at : one.name === undefined && one.use === name),
    );
    if (name === undefined || !other) return [];
    if (stage.pipeline !== owner && other.pipeline !== owner) return [];
    const message = `is also the name of ${other.path} at ${formatPlace(other.at, stage.at)}; give one of them another name`;
    return [{ at: stage.positionOf(['name']), path: `${stage.path}.name`, message }];
  });
}
