import { resolve } from 'node:path';
import { durationMs, sizeBytes } from '../../plugin/index.js';
import { isRecord } from '../../kit/schema/record.js';
import { valueAt, type Checked } from '../checked.js';
import type { StageConfig, StageGroup } from '../config.js';
import { writePath, type Path, type Source } from '../document.js';
import { integrityText, type RawGroup, type RawStage } from '../stage-schema.js';
import { toWhen } from './conditions.js';
import type { RawChange } from './pipeline-schema.js';

/** A file with entries of pipelines. */
export interface EntryFile {
  readonly source: Source;
  /** Its values before variables are substituted. */
  readonly written: unknown;
  readonly checked: Checked;
  /** Absolute path of its folder. */
  readonly baseDir: string;
  /** Path of its root in messages; empty for the config itself. */
  readonly prefix: Path;
  /** Fields of the stages that it brings. */
  readonly owner: Pick<StageConfig, 'pipeline' | 'baseDir'>;
}

/** A stage of an entry: the entry itself, or one of its alternatives. */
export interface Place {
  /** Has the shape of a `RawStage` if it is valid. */
  readonly entry: Partial<RawStage>;
  readonly path: Path;
  /** Path of the entry that has it as an alternative. */
  readonly groupPath: Path | undefined;
}

/** The stages of an entry at a path of a file, its alternatives included. */
export function readEntry(entry: unknown, path: Path, file: EntryFile): readonly StageConfig[] {
  const group = groupOf(entry, path, file);
  return placesOf(entry, path).map((place) =>
    file.checked.isValid(place.path)
      ? toStage(place.entry as RawStage, place.path, group, file)
      : brokenStage(place, group, file),
  );
}

/** The stages of entries in an unchecked file. */
export function placesOf(entry: unknown, path: Path): readonly Place[] {
  const { oneOf } = Object(entry) as { oneOf?: unknown }; // any object has properties, perhaps undefined
  if (!Array.isArray(oneOf)) return [{ entry: fieldsOf(entry), path, groupPath: undefined }];
  return oneOf.map((one, at) => ({
    entry: fieldsOf(one),
    path: [...path, 'oneOf', at],
    groupPath: path,
  }));
}

/** Path of a file's value in messages. */
export function shownPath(path: Path, { prefix }: Pick<EntryFile, 'prefix'>): string {
  return writePath([...prefix, ...path]);
}

function groupOf(entry: unknown, path: Path, file: EntryFile): StageGroup | undefined {
  const { oneOf, name, locked } = Object(entry) as Partial<RawGroup>; // any object has properties, perhaps undefined
  if (!Array.isArray(oneOf)) return undefined;
  const last = fieldsOf(oneOf.at(-1));
  return {
    path: shownPath(path, file),
    at: file.source.positionOf(path),
    isComplete: last.enabled !== false && isUnconditional(last),
    ...(typeof name === 'string' && { name }),
    ...(locked === true && { isLocked: true }),
  };
}

function fieldsOf(entry: unknown): Partial<RawStage> {
  return Object(entry) as Partial<RawStage>; // any object has properties; each is asked for first
}

/** True for an entry that takes all requests. */
export function isUnconditional({ when }: Partial<RawStage>): boolean {
  return Object.keys(Object(when) as object).length === 0;
}

function toStage(raw: RawStage, path: Path, group: StageGroup | undefined, file: EntryFile): StageConfig {
  const { source, written, owner } = file;
  const options = valueAt(written, [...path, 'with']) as StageConfig['written'] | undefined; // it has the shape of `raw`
  return {
    use: raw.use,
    ...(raw.integrity !== undefined && { integrity: raw.integrity }),
    ...(raw.name !== undefined && { name: raw.name }),
    ...(group && { group }),
    enabled: raw.enabled,
    with: raw.with,
    written: options ?? {},
    when: raw.when && toWhen(raw.when),
    ...limitsOf(raw),
    ...isolationOf(raw),
    ...(raw.locked === true && { isLocked: true }),
    ...owner,
    path: shownPath(path, file),
    at: source.positionOf(path),
    positionOf: (within) => source.positionOf([...path, ...within]),
  };
}

function limitsOf({ timeout, onError }: Pick<RawStage, 'timeout' | 'onError'>) {
  return {
    ...(timeout !== undefined && { timeoutMs: durationMs(timeout) }),
    ...(onError !== undefined && { skipsErrors: onError === 'skip' }),
  };
}

function isolationOf({ isolate = false }: Pick<RawStage, 'isolate'>): Pick<StageConfig, 'isolation'> {
  if (isolate === false) return {};
  const { memory = '256mb', stall = '1s', env = [], read = [], wrap = [] } = isolate === true ? {} : isolate;
  return { isolation: { memoryBytes: sizeBytes(memory), stallMs: durationMs(stall), env, read, wrap } };
}

/**
 * A broken stage with its name, condition and position only, so that problems of the other stages are
 * reported too.
 */
function brokenStage(place: Place, group: StageGroup | undefined, file: EntryFile): StageConfig {
  const { use, integrity, name, when } = place.entry;
  const isGood = (key: string) => file.checked.isValid([...place.path, key]);
  const bare = {
    use: isGood('use') && use !== undefined ? use : '',
    enabled: true,
    with: {},
    ...(integrity !== undefined && { integrity: integrityText(integrity) }),
    ...(name !== undefined && isGood('name') && { name }),
    ...(when && isGood('when') && { when }),
  };
  return { ...toStage(bare, place.path, group, { ...file, written: {} }), isBroken: true };
}

/** A stage with other settings: those of a change at a path of a file. */
export function withSettings(
  stage: StageConfig,
  change: RawChange,
  path: Path,
  file: EntryFile,
): StageConfig {
  const { source, written, owner } = file;
  const { isolation, ...kept } = stage;
  return {
    ...kept,
    ...(change.enabled !== undefined && { enabled: change.enabled }),
    with: merged(stage.with, change.with),
    written: merged(stage.written, valueAt(written, [...path, 'with'])),
    ...(change.when && { when: toWhen(change.when) }),
    ...limitsOf(change),
    ...(change.isolate === undefined ? isolation && { isolation } : changedIsolation(stage, change, file)),
    pipeline: owner.pipeline ?? '',
    path: shownPath(path, file),
    at: source.positionOf(path),
    positionOf: (within) =>
      valueAt(change, within) === undefined
        ? stage.positionOf(within)
        : source.positionOf([...path, ...within]),
  };
}

/** Isolation of a change, whose relative paths start in the folder of its own file. */
function changedIsolation(
  { baseDir: entryDir }: StageConfig,
  change: RawChange,
  { owner, baseDir }: EntryFile,
): Pick<StageConfig, 'isolation'> {
  const { isolation } = isolationOf(change);
  if (!isolation || owner.baseDir === entryDir) return isolation ? { isolation } : {};
  return { isolation: { ...isolation, read: isolation.read.map((name) => resolve(baseDir, name)) } };
}

type Options = Readonly<Record<string, unknown>>;

/** Options with those of `changes`, object by object; lists and other values are replaced whole. */
function merged(options: Options, changes: unknown): Options {
  if (!isRecord(changes)) return options;
  const result = new Map(Object.entries(options));
  for (const [key, value] of Object.entries(changes)) {
    const before = result.get(key);
    result.set(key, isRecord(before) && isRecord(value) ? merged(before, value) : value);
  }
  return Object.fromEntries(result);
}
