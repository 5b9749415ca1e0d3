import type { SchemaError } from '../plugin/upstream/index.js';
import { isWithin, type Checked } from './checked.js';
import type { StageConfig } from './config.js';
import type { Path, Source } from './document.js';
import { placesOf, readEntry, type EntryFile } from './pipelines/entries.js';
import { entryErrors } from './pipelines/entry-rules.js';
import { entriesOf } from './pipelines/pipeline-rules.js';
import type { RawChange } from './pipelines/pipeline-schema.js';

/** The stages of the default pipeline, those of its alternatives included, top to bottom. */
export function readStages(pipeline: unknown, file: EntryFile): readonly StageConfig[] {
  return entriesIn(pipeline).flatMap(([entry, path]) => readEntry(entry, path, file));
}

/** Rules of the default pipeline that a schema cannot express. */
export function stageErrors(isValid: Checked['isValid'], source: Source): readonly SchemaError[] {
  const { pipeline } = source.value as Lists; // any value has properties, perhaps undefined
  return entryErrors(entriesIn(pipeline), isValid);
}

/**
 * Config without the errors of disabled stages, which may name variables that are not set, and of tests, in which
 * nothing is substituted.
 */
export function withoutSwitchedOff(source: Source): Source {
  const { pipeline, pipelines } = source.value as Lists; // any value has properties, perhaps undefined
  const changed = itemsOf(pipelines).flatMap((item, at) => changedEntries(item, ['pipelines', at]));
  const errors = source.errors.filter(({ path }) => path[0] !== 'tests');
  return withoutErrorsOf([...entriesIn(pipeline), ...changed], { ...source, errors });
}

/** File of a named pipeline without the errors of disabled stages. */
export function withoutDisabled(source: Source): Source {
  return withoutErrorsOf(changedEntries(source.value, []), source);
}

function withoutErrorsOf(entries: readonly PlacedEntry[], source: Source): Source {
  const off = entries
    .flatMap(([entry, path]) => placesOf(entry, path))
    .filter(({ entry }) => entry.enabled === false);
  const isOff = (path: Path) => off.some((place) => isWithin(path, place.path));
  return { ...source, errors: source.errors.filter(({ path }) => !isOff(path)) };
}

/** Parts of an unchecked config. */
interface Lists {
  readonly pipeline?: unknown;
  readonly pipelines?: unknown;
}

type PlacedEntry = readonly [entry: unknown, path: Path];

function entriesIn(pipeline: unknown): readonly PlacedEntry[] {
  return itemsOf(pipeline).map((entry, at) => [entry, ['pipeline', at]]);
}

function changedEntries(item: unknown, root: Path): readonly PlacedEntry[] {
  const { changes } = Object(item) as { changes?: unknown }; // any object has properties, perhaps undefined
  return itemsOf(changes).flatMap(
    (change, at) => entriesOf(Object(change) as RawChange, [...root, 'changes', at]), // each key is checked first
  );
}

function itemsOf(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list : [];
}
