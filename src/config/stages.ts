import { durationMs, type Operation } from '../plugin/index.js';
import type { SchemaError } from '../plugin/upstream/index.js';
import { percentOf } from '../kit/schema/units.js';
import { isWithin, valueAt, type Checked } from './checked.js';
import type { Conditions, StageConfig, StageGroup, When } from './config.js';
import { writePath, type Path, type Source } from './document.js';
import { StageSchema, type RawStage } from './stage-schema.js';

/** An entry of a pipeline, or an alternative of one. */
interface Place {
  /** Has the shape of a `RawStage` if it is valid. */
  readonly entry: Partial<RawStage>;
  readonly path: Path;
  readonly group: StageGroup | undefined;
}

/** The stages of a pipeline, those of its alternatives included, top to bottom. */
export function readStages(
  pipeline: unknown,
  source: Source,
  written: unknown,
  checked: Checked,
): readonly StageConfig[] {
  return placesOf(pipeline).map((place) =>
    checked.isValid(place.path)
      ? toStage(place.entry as RawStage, place, source, written)
      : brokenStage(place, source, checked),
  );
}

/**
 * Source without the errors of disabled stages, which may name variables that are not set, and of tests, in which
 * nothing is substituted.
 */
export function withoutSwitchedOff(source: Source): Source {
  const { pipeline } = source.value as { pipeline?: unknown }; // any value has properties, perhaps undefined
  const off = placesOf(pipeline).filter(({ entry }) => entry.enabled === false);
  const isOff = (path: Path) => path[0] === 'tests' || off.some((place) => isWithin(path, place.path));
  return { ...source, errors: source.errors.filter(({ path }) => !isOff(path)) };
}

/** Rules of a pipeline that a schema cannot express. */
export function stageErrors(isValid: Checked['isValid'], source: Source): readonly SchemaError[] {
  const { pipeline } = source.value as { pipeline?: unknown }; // any value has properties, perhaps undefined
  const valid = placesOf(pipeline).filter(({ path }) => isValid(path));
  return [
    ...groupErrors(pipeline),
    ...valid.flatMap(({ entry, path }) => headerErrors(entry, path)),
    ...duplicateNames(valid, source),
    ...valid.flatMap((place) => alternativeErrors(place, valid)),
  ];
}

/** Keys beside alternatives. */
function groupErrors(pipeline: unknown): readonly SchemaError[] {
  const entries: readonly unknown[] = Array.isArray(pipeline) ? pipeline : [];
  return entries.flatMap((entry, at) => {
    const names = Object.keys(Object(entry) as object);
    const others = names.includes('oneOf') ? names.filter((name) => stageKeys.has(name)) : [];
    return others.map((name) => ({
      path: ['pipeline', at, name],
      message: 'has no meaning beside "oneOf"; write it in each alternative it applies to',
    }));
  });
}

const stageKeys: ReadonlySet<string> = new Set(Object.keys(StageSchema.properties));

function placesOf(pipeline: unknown): readonly Place[] {
  const entries: readonly unknown[] = Array.isArray(pipeline) ? pipeline : [];
  return entries.flatMap<Place>((entry, at) => {
    const path = ['pipeline', at];
    const { oneOf } = Object(entry) as { oneOf?: unknown }; // any object has properties, perhaps undefined
    if (!Array.isArray(oneOf)) return [{ entry: fieldsOf(entry), path, group: undefined }];
    const alternatives = oneOf.map(fieldsOf);
    const last = alternatives.at(-1);
    const isComplete = last?.enabled !== false && isUnconditional(last ?? {});
    const group = { path: writePath(path), isComplete };
    return alternatives.map((entry, index) => ({ entry, path: [...path, 'oneOf', index], group }));
  });
}

function fieldsOf(entry: unknown): Partial<RawStage> {
  return Object(entry) as Partial<RawStage>; // any object has properties; each is asked for first
}

function isUnconditional({ when }: Partial<RawStage>): boolean {
  return Object.keys(Object(when) as object).length === 0;
}

function toStage(
  raw: RawStage,
  { path, group }: Omit<Place, 'entry'>,
  source: Source,
  written: unknown,
): StageConfig {
  const options = valueAt(written, [...path, 'with']) as StageConfig['written'] | undefined; // it has the shape of `raw`
  return {
    use: raw.use,
    ...(raw.name !== undefined && { name: raw.name }),
    ...(group && { group }),
    enabled: raw.enabled,
    with: raw.with,
    written: options ?? {},
    when: raw.when && toWhen(raw.when),
    ...(raw.timeout !== undefined && { timeoutMs: durationMs(raw.timeout) }),
    ...(raw.onError === 'skip' && { skipsErrors: true }),
    path: writePath(path),
    at: source.positionOf(path),
    positionOf: (within) => source.positionOf([...path, ...within]),
  };
}

/**
 * A broken stage with its name, condition and position only, so that problems of the other stages are
 * reported too.
 */
function brokenStage(place: Place, source: Source, { isValid }: Checked): StageConfig {
  const { use, name, when } = place.entry;
  const isGood = (key: string) => isValid([...place.path, key]);
  const bare = {
    use: isGood('use') && use !== undefined ? use : '',
    enabled: true,
    with: {},
    ...(name !== undefined && isGood('name') && { name }),
    ...(when && isGood('when') && { when }),
  };
  return { ...toStage(bare, place, source, {}), isBroken: true };
}

function toWhen({ not, ...raw }: NonNullable<RawStage['when']>): When {
  return { ...toConditions(raw), ...(not && { not: toConditions(not) }) };
}

type RawConditions = Omit<NonNullable<RawStage['when']>, 'not'>;

function toConditions({
  format,
  model,
  operation,
  caller,
  header,
  stream,
  sample,
}: RawConditions): Conditions {
  return {
    ...(format && { format: [format].flat() }),
    ...(model && { model: [model].flat() }),
    ...(operation && { operation: [operation].flat() as readonly Operation[] }),
    ...(caller && { caller: [caller].flat() }),
    ...(header && { header: lowerCased(header) }),
    ...(stream !== undefined && { stream }),
    ...(sample !== undefined && { sample: percentOf(sample) }),
  };
}

function lowerCased(header: NonNullable<RawConditions['header']>): NonNullable<Conditions['header']> {
  return Object.fromEntries(
    Object.entries(header).map(([name, globs]) => [name.toLowerCase(), [globs].flat()]),
  );
}

/** Headers that conditions cannot use: those invalid in HTTP, and those with secret values. */
function headerErrors({ when }: Partial<RawStage>, path: Path): readonly SchemaError[] {
  const places = [
    { header: when?.header, within: ['when', 'header'] },
    { header: when?.not?.header, within: ['when', 'not', 'header'] },
  ];
  return places.flatMap(({ header = {}, within }) =>
    Object.keys(header).flatMap((name) => {
      const message = headerError(name);
      return message ? [{ path: [...path, ...within, name], message }] : [];
    }),
  );
}

function headerError(name: string): string | undefined {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return 'is not the name of a header';
  if (!secretHeaders.has(name.toLowerCase())) return undefined;
  return 'is a header whose value is a secret; identify the caller by "caller" instead';
}

const secretHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
]);

/** Names used by several enabled entries; an entry without one has the name of its plugin. */
function duplicateNames(places: readonly Place[], source: Source): readonly SchemaError[] {
  const on = places.filter(({ entry }) => entry.enabled !== false);
  return on.flatMap(({ entry: { name }, path }, at) => {
    const other = on.find(
      ({ entry }, index) =>
        index !== at && (entry.name === name ? index < at : entry.name === undefined && entry.use === name),
    );
    if (name === undefined || !other) return [];
    const { line } = source.positionOf(other.path);
    const message = `is also the name of ${writePath(other.path)} at line ${line}; give one of them another name`;
    return [{ path: [...path, 'name'], message }];
  });
}

/** Errors of an alternative: the last one takes all remaining requests, and only that one does. */
function alternativeErrors({ entry, path, group }: Place, places: readonly Place[]): readonly SchemaError[] {
  if (!group) return [];
  const isLast = places.findLast((place) => place.group === group)?.path === path;
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
