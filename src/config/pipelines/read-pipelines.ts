import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { SchemaError } from '../../plugin/upstream/index.js';
import { checkSource, valueAt, type Checked } from '../checked.js';
import type { ConfigProblem, PipelineConfig, PipelineEntry, StageConfig } from '../config.js';
import { readSource, readWritten, type Path, type Source } from '../document.js';
import type { Environment, Placeholders } from '../environment.js';
import { withoutDisabled } from '../stages.js';
import { defaultPipeline } from '../../plugin/core.js';
import { stepsOf } from './steps.js';
import { applyChanges, kindOf, remainingStages, unmarked } from './apply-changes.js';
import { toWhen } from './conditions.js';
import { shownPath, type EntryFile } from './entries.js';
import { duplicateNames } from './entry-rules.js';
import { PipelineItem, type RawChange, type RawPipeline } from './pipeline-schema.js';
import { nameErrors, pipelineErrors } from './pipeline-rules.js';

/** The named pipelines of a config, as far as they can be read. */
export interface PipelinesReading {
  readonly pipelines: readonly PipelineConfig[];
  readonly problems: readonly ConfigProblem[];
  /** Absolute paths of their files, and of those that variables in these name. */
  readonly files: readonly string[];
}

/** A config with named pipelines. */
export interface PipelinesInput {
  readonly source: Source;
  readonly written: unknown;
  readonly checked: Checked;
  /** Value of `pipelines:`. */
  readonly raw: unknown;
  /** The default pipeline. */
  readonly pipeline: readonly StageConfig[];
  /** Absolute path; relative paths in the config start here. */
  readonly baseDir: string;
  readonly env: Environment;
  readonly placeholders: Placeholders | undefined;
}

/** Reads the pipelines of a config and of the files that it names. Returns problems, never throws them. */
export function readPipelines(input: PipelinesInput): PipelinesReading {
  const items: readonly unknown[] = Array.isArray(input.raw) ? input.raw : [];
  const lists = new Map<string, readonly PipelineEntry[]>([
    [defaultPipeline, stepsOf(input.pipeline).map((stages) => ({ mark: 'same', stages }))],
  ]);
  const pipelines: PipelineConfig[] = [];
  const problems: ConfigProblem[] = [];
  const files: string[] = [];
  for (const [index, item] of items.entries()) {
    const found = typeof item === 'string' ? fileOf(item, index, input) : inlineOf(index, input);
    files.push(...found.files);
    problems.push(...found.problems);
    if (!found.item) continue;
    const { pipeline, problems: wrong } = toPipeline(found.item, lists, pipelines);
    problems.push(...wrong);
    if (!pipeline) continue;
    pipelines.push(pipeline);
    lists.set(pipeline.name, unmarked(pipeline.entries));
  }
  return { pipelines, problems, files };
}

/** An item and the file that it stands in. */
interface FoundItem {
  /** Has the shape of a `RawPipeline` in the parts that are valid. */
  readonly value: Partial<RawPipeline>;
  /** Path of the item within its file. */
  readonly root: Path;
  readonly file: EntryFile;
}

interface Finding {
  readonly item: FoundItem | undefined;
  readonly problems: readonly ConfigProblem[];
  readonly files: readonly string[];
}

function inlineOf(index: number, { source, written, checked, baseDir }: PipelinesInput): Finding {
  const root = ['pipelines', index];
  const value = (checked.value as { pipelines: readonly (Partial<RawPipeline> | null)[] }).pipelines[index]; // an item of this list
  if (typeof value !== 'object' || value === null) return { item: undefined, problems: [], files: [] };
  const owner = { pipeline: value.name ?? '' };
  const file = { source, written, checked, baseDir, prefix: [], owner };
  return { item: { value, root, file }, problems: [], files: [] };
}

function fileOf(
  name: string,
  index: number,
  { source, baseDir, env, placeholders }: PipelinesInput,
): Finding {
  const prefix = ['pipelines', index];
  const absolute = path.resolve(baseDir, name);
  const shown = path.join(path.dirname(source.file), name);
  const text = readText(absolute);
  if (text === undefined) {
    const at = source.positionOf(prefix);
    const message = `names ${shown}, which cannot be read`;
    return {
      item: undefined,
      problems: [{ at, path: shownPath([], { prefix }), message }],
      files: [absolute],
    };
  }
  const own = withoutDisabled(readSource(text, shown, env, path.dirname(absolute), placeholders));
  const checked = checkSource(own, PipelineItem);
  const value = checked.value as Partial<RawPipeline>; // each part is used only if it is valid
  const ownDir = path.dirname(absolute);
  const owner = { pipeline: typeof value.name === 'string' ? value.name : '', baseDir: ownDir };
  const file = { source: own, written: readWritten(text), checked, baseDir: ownDir, prefix, owner };
  return {
    item: { value, root: [], file },
    problems: located([...own.errors, ...checked.errors], file),
    files: [absolute, ...(own.files ?? [])],
  };
}

/** The text of a file; undefined if it is missing or not readable. */
function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // reported at its name in the config
  }
}

function located(errors: readonly SchemaError[], file: EntryFile): readonly ConfigProblem[] {
  return errors.map(({ path: at, message }) => ({
    at: file.source.positionOf(at),
    path: shownPath(at, file),
    message,
  }));
}

interface ReadPipeline {
  /** Undefined without a valid name of its own. */
  readonly pipeline: PipelineConfig | undefined;
  readonly problems: readonly ConfigProblem[];
}

function toPipeline(
  item: FoundItem,
  lists: ReadonlyMap<string, readonly PipelineEntry[]>,
  above: readonly PipelineConfig[],
): ReadPipeline {
  const { value, root, file } = item;
  const isValid = (within: Path) => file.checked.isValid([...root, ...within]);
  const { name, extends: parent = defaultPipeline } = value;
  const given = valueAt(file.source.value, root) as Partial<RawPipeline>; // without defaults, of the shape of `value`
  const errors = pipelineErrors(given, root, isValid);
  if (name === undefined || !isValid(['name']))
    return { pipeline: undefined, problems: located(errors, file) };
  const ofNames = nameErrors({ name, parent }, root, above, isValid);
  const isKnown = lists.has(parent);
  const changes = isKnown ? usableChanges(value.changes, errors, root, isValid) : [];
  const changed = applyChanges(lists.get(parent) ?? [], changes, [...root, 'changes'], file);
  const stages = remainingStages(changed.entries);
  const clashes = duplicateNames(stages, name).map((clash) => ({ ...clash, pipeline: name }));
  const problems = [...located([...errors, ...ofNames, ...changed.errors], file), ...clashes];
  return {
    pipeline: ofNames.length > 0 ? undefined : { ...settingsOf(item, name, parent), ...changed, stages },
    problems,
  };
}

type Settings = Omit<PipelineConfig, 'entries' | 'stages' | 'changes'>;

/** Settings of a pipeline beside its changes. */
function settingsOf({ value, root, file }: FoundItem, name: string, parent: string): Settings {
  const isValid = (key: string) => file.checked.isValid([...root, key]);
  return {
    name,
    parent,
    when: value.when && isValid('when') ? toWhen(value.when) : undefined,
    tests: isValid('tests') ? (value.tests ?? []).map((test) => path.resolve(file.baseDir, test)) : [],
    path: shownPath(root, file),
    at: file.source.positionOf(root),
    positionOf: (within) => file.source.positionOf([...root, ...within]),
  };
}

/** Changes that can be applied; those with reported problems are undefined. */
function usableChanges(
  list: unknown,
  errors: readonly SchemaError[],
  root: Path,
  isValid: (path: Path) => boolean,
): readonly (RawChange | undefined)[] {
  const wrong = new Set(errors.map(({ path: at }) => at[root.length + 1]));
  const changes: readonly (RawChange | null)[] = Array.isArray(list) ? list : [];
  return changes.map((change, at) => {
    if (typeof change !== 'object' || change === null || wrong.has(at)) return undefined;
    const kind = kindOf(change);
    const isGood = kind === 'set' ? isValid(['changes', at]) : isValid(['changes', at, kind]);
    return isGood && (change.add === undefined || Array.isArray(change.add)) ? change : undefined;
  });
}
