import type { SchemaError } from '../../plugin/upstream/index.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import { formatPlace, type PipelineChange, type PipelineEntry, type StageConfig } from '../config.js';
import type { Path } from '../document.js';
import { readEntry, shownPath, withSettings, type EntryFile } from './entries.js';
import { changeKeys, isChangeKind, type ChangeKind, type RawChange } from './pipeline-schema.js';

/** A pipeline after its changes. */
export interface ChangedPipeline {
  /** Its entries, with those that were removed. */
  readonly entries: readonly PipelineEntry[];
  /** The changes that could be applied. */
  readonly changes: readonly PipelineChange[];
  /** Reasons why the others could not be applied, at their paths in the file. */
  readonly errors: readonly SchemaError[];
}

/** Entries of a list without a named pipeline's marks. */
export function unmarked(entries: readonly PipelineEntry[]): readonly PipelineEntry[] {
  return entries.flatMap(({ mark, stages }) => (mark === 'removed' ? [] : { mark: 'same', stages }));
}

/** Stages of the entries that are not removed. */
export function remainingStages(entries: readonly PipelineEntry[]): readonly StageConfig[] {
  return entries.flatMap(({ mark, stages }) => (mark === 'removed' ? [] : stages));
}

/** Applies valid changes in order, each to the list as it then stands. `path`: of the list of changes in the file. */
export function applyChanges(
  entries: readonly PipelineEntry[],
  changes: readonly (RawChange | undefined)[],
  path: Path,
  file: EntryFile,
): ChangedPipeline {
  let now = entries;
  const applied: PipelineChange[] = [];
  const errors: SchemaError[] = [];
  for (const [index, change] of changes.entries()) {
    if (!change) continue;
    const at = [...path, index];
    const result = applyChange(now, change, at, file);
    if (result.error) {
      errors.push(result.error);
      continue;
    }
    const place = remainingStages(now.slice(0, result.place)).length;
    applied.push({ path: shownPath(at, file), at: file.source.positionOf(at), place });
    now = result.entries;
  }
  return { entries: now, changes: applied, errors };
}

type Applied =
  | { readonly error: SchemaError }
  | { readonly error?: never; readonly entries: readonly PipelineEntry[]; readonly place: number };

function applyChange(
  entries: readonly PipelineEntry[],
  change: RawChange,
  path: Path,
  file: EntryFile,
): Applied {
  const kind = kindOf(change);
  const found = findTarget(entries, change[kind] ?? '', file.source.positionOf([...path, kind]));
  const target = typeof found === 'number' ? entries[found] : undefined;
  if (!target || typeof found !== 'number')
    return { error: { path: [...path, kind], message: String(found) } };
  const fault = changing.has(kind) ? refusalOf(target, kind) : undefined;
  if (fault !== undefined) return { error: { path: [...path, kind], message: fault } };
  return applyTo(entries, found, { change, kind, path, file });
}

/** Kinds of changes after which the entry is not the same. */
const changing: ReadonlySet<ChangeKind> = new Set(['replace', 'set', 'remove']);

/** Kind of a change whose keys have been checked. */
export function kindOf(change: RawChange): ChangeKind {
  const kinds = Object.keys(changeKeys).filter(isChangeKind);
  return kinds.find((kind) => change[kind] !== undefined) ?? 'remove';
}

interface Application {
  readonly change: RawChange;
  readonly kind: ChangeKind;
  readonly path: Path;
  readonly file: EntryFile;
}

function applyTo(
  entries: readonly PipelineEntry[],
  place: number,
  { change, kind, path, file }: Application,
): Applied {
  const { mark = 'same', stages = [] } = entries[place] ?? {};
  const put = (at: number, count: number, ...added: readonly PipelineEntry[]): Applied => {
    return { entries: entries.toSpliced(at, count, ...added), place: at };
  };
  const changed = mark === 'added' ? 'added' : 'changed';
  if (kind === 'remove') return mark === 'added' ? put(place, 1) : put(place, 1, { mark: 'removed', stages });
  if (kind === 'replace')
    return put(place, 1, { mark: changed, stages: readEntry(change.by, [...path, 'by'], file) });
  if (kind === 'set')
    return put(place, 1, {
      mark: changed,
      stages: stages.map((stage) => withSettings(stage, change, path, file)),
    });
  const added = (change.add ?? []).map((entry, index): PipelineEntry => {
    return { mark: 'added', stages: readEntry(entry, [...path, 'add', index], file) };
  });
  return put(kind === 'before' ? place : place + 1, 0, ...added);
}

/** Index of the one entry that a name fits, or the reason why there is none. */
function findTarget(
  entries: readonly PipelineEntry[],
  name: string,
  from: StageConfig['at'],
): number | string {
  const places = entries.flatMap((entry, at) =>
    entry.mark !== 'removed' && targetName(entry) === name ? [at] : [],
  );
  const [first, second] = places;
  if (first !== undefined && second === undefined) return first;
  const placeOf = (at: number) => formatPlace(positionOf(entries[at]) ?? from, from);
  if (first !== undefined)
    return `fits ${places.length} entries, at ${places.map(placeOf).join(' and ')}; give them different names`;
  return absence(entries, name, from);
}

function absence(entries: readonly PipelineEntry[], name: string, from: StageConfig['at']): string {
  const group = entries.find(
    ({ stages }) => stages[0]?.group && stages.some((one) => stageName(one) === name),
  );
  if (group) {
    const place = formatPlace(positionOf(group) ?? from, from);
    return `is an alternative of the entry at ${place}; give its "oneOf" a name, and replace it as a whole`;
  }
  if (entries.some((entry) => entry.mark === 'removed' && targetName(entry) === name))
    return 'is no longer in this pipeline: a change above removes it';
  const names = entries.flatMap((entry) => (entry.mark === 'removed' ? [] : (targetName(entry) ?? [])));
  const meant = didYouMean(name, names);
  return `is not the name of an entry of this pipeline; ${meant ? `did you mean "${meant}"?` : `known: ${names.join(', ')}`}`;
}

function positionOf(entry: PipelineEntry | undefined): StageConfig['at'] | undefined {
  const stage = entry?.stages[0];
  return stage?.group?.at ?? stage?.at;
}

/** Name of an entry for changes; undefined for alternatives without one. */
function targetName({ stages: [stage] }: PipelineEntry): string | undefined {
  if (!stage) return undefined;
  return stage.group ? stage.group.name : stageName(stage);
}

function stageName({ name, use }: StageConfig): string {
  return name ?? use;
}

/** Reason why an entry cannot be changed in this way; undefined: it can. */
function refusalOf(entry: PipelineEntry, kind: ChangeKind): string | undefined {
  const [stage] = entry.stages;
  const isLocked = stage?.group?.isLocked ?? stage?.isLocked ?? false;
  if (isLocked)
    return `is locked by its "locked: true" at line ${positionOf(entry)?.line}; leave it as it is`;
  if (kind === 'set' && stage?.group) return 'is a "oneOf", which has no settings of its own; replace it';
  return undefined;
}
