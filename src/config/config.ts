import type { SettledSections } from './sections/sections.js';
import type { SlotSettings } from './slots/slot-schema.js';
import type { CatalogModel, Operation } from '../plugin/index.js';
import type { TlsConfig } from './tls-files.js';

/** Position in a config file; line and column count from 1. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Conditions over a request, which matches if every given field does. */
export interface Conditions {
  /** Names of formats. */
  readonly format?: readonly string[];
  /** Globs over the catalog id. */
  readonly model?: readonly string[];
  readonly operation?: readonly Operation[];
  /** Globs over the caller's key id or name; `master` is the master key. */
  readonly caller?: readonly string[];
  /** Globs over the id or name of the caller's team; a caller without one never matches. */
  readonly team?: readonly string[];
  /** Globs over the value of each claim of the caller; of a list over each item. An absent claim never matches. */
  readonly claim?: Readonly<Record<string, readonly string[]>>;
  /** Globs over the path of the request, without `/v1` and without a query. */
  readonly path?: readonly string[];
  /** Globs over the value of each header, by its name in lower case; an absent header never matches. */
  readonly header?: Readonly<Record<string, readonly string[]>>;
  /** True for answers that are streamed. */
  readonly stream?: boolean;
  /** Percentage of sessions; of requests where nothing names a session. */
  readonly sample?: number;
}

/** Conditions of a stage: it runs only for requests that match them, and do not match `not`. */
export interface When extends Conditions {
  readonly not?: Conditions;
}

/** An entry of the pipeline that has alternatives. */
export interface StageGroup {
  /** `pipeline[3]`. */
  readonly path: string;
  /** Position of the entry. */
  readonly at: Position;
  /** Name for changes of named pipelines; absent: it has none. */
  readonly name?: string;
  /** No named pipeline may change it. */
  readonly isLocked?: boolean;
  /** An alternative accepts each request; false if the last one has a problem that is reported already. */
  readonly isComplete: boolean;
}

/** Child process of a stage. */
export interface IsolationConfig {
  /** Max resident memory. */
  readonly memoryBytes: number;
  /** Max time without an answer to a ping. */
  readonly stallMs: number;
  /** Names of environment variables that it gets. */
  readonly env: readonly string[];
  /** Files and folders that it may read, beside its package; relative ones start at the folder of the entry's file. */
  readonly read: readonly string[];
  /** Command before that of Node, for example of a sandbox. */
  readonly wrap: readonly string[];
}

export interface StageConfig {
  /** Name of the entry; default: that of its plugin. */
  readonly name?: string;
  /** Entry that has this stage as an alternative; the same object in all of them. */
  readonly group?: StageGroup;
  /** A built-in name, a path relative to the config file, or an npm package. */
  readonly use: string;
  /** Hash that the code of its plugin must have; absent: any. */
  readonly integrity?: string;
  readonly enabled: boolean;
  readonly with: Readonly<Record<string, unknown>>;
  /** `with` as written in the file, before environment variables are substituted. */
  readonly written: Readonly<Record<string, unknown>>;
  readonly when: When | undefined;
  /** Time limit for the stage's own time, until it calls `next`; undefined: none. */
  readonly timeoutMs?: number;
  /** Requests continue without the stage if it fails before `next`. */
  readonly skipsErrors?: boolean;
  /** Runs in a child process with these limits; absent: in the gateway's own. */
  readonly isolation?: IsolationConfig;
  /** No named pipeline may change it. */
  readonly isLocked?: boolean;
  /** Named pipeline that has brought or changed it; absent: it is an entry of `pipeline:`. */
  readonly pipeline?: string;
  /** Absolute path of the folder in which the paths of this entry start; absent: that of the config. */
  readonly baseDir?: string;
  /**
   * Problems of this entry are already reported; of a broken entry only `use`, `name`, `when` and its position
   * are read.
   */
  readonly isBroken?: boolean;
  /** `pipeline[3]`, or `pipeline[3].oneOf[0]`. */
  readonly path: string;
  /** Position of the entry. */
  readonly at: Position;
  /**
   * Position of a key within the entry: `positionOf(['with', 'cap'])`; the nearest enclosing one if it is
   * absent.
   */
  readonly positionOf: (path: readonly (string | number)[]) => Position;
}

/** Difference between an entry of a named pipeline and the pipeline that it extends. */
export type EntryMark = 'same' | 'added' | 'changed' | 'removed';

/** An entry of a named pipeline: a stage, or its alternatives. */
export interface PipelineEntry {
  readonly mark: EntryMark;
  /** One stage, or the alternatives; of a removed entry those of the extended pipeline. */
  readonly stages: readonly StageConfig[];
}

/** A change of a named pipeline. */
export interface PipelineChange {
  /** `pipelines[0].changes[2]`. */
  readonly path: string;
  readonly at: Position;
  /** Index of the first stage that it affects, in the list that it was applied to. */
  readonly place: number;
}

/** An item of `pipelines:`, with the list that its changes come to. */
export interface PipelineConfig {
  readonly name: string;
  /** Pipeline that it changes: `default`, which is `pipeline:`, or one above it. */
  readonly parent: string;
  /** Condition of requests whose key and team name no pipeline; undefined: it takes none of these. */
  readonly when: When | undefined;
  /** Its entries, with those that it has removed. */
  readonly entries: readonly PipelineEntry[];
  /** Stages of its entries, top to bottom; inherited ones are the same objects as in the extended pipeline. */
  readonly stages: readonly StageConfig[];
  readonly changes: readonly PipelineChange[];
  /** Absolute paths of its files of tests. */
  readonly tests: readonly string[];
  /** `pipelines[0]`. */
  readonly path: string;
  /** Position of the item: in its own file, if it has one. */
  readonly at: Position;
  /** Position of a key within the item; the nearest enclosing one if it is absent. */
  readonly positionOf: (path: readonly (string | number)[]) => Position;
}

/** An entry under `formats:`. */
export interface FormatConfig {
  /** A built-in name, a path relative to the config file, or an npm package. */
  readonly use: string;
  /** Hash that the code of its plugin must have; absent: any. */
  readonly integrity?: string;
  readonly with: Readonly<Record<string, unknown>>;
  /** Path of `use` within the entry; empty if the entry is the name alone. */
  readonly usePath: readonly (string | number)[];
  /** `formats[1]`. */
  readonly path: string;
  readonly at: Position;
  readonly positionOf: (path: readonly (string | number)[]) => Position;
}

/** Account of a slot: its kind, and the options of that kind. */
export type AccountConfig = { readonly kind: string; readonly integrity?: string } & Readonly<
  Record<string, unknown>
>;

/** Plugins of a slot, as its entry names them. */
export interface SlotPluginsConfig {
  /** A built-in name, a path relative to the config file, or an npm package. */
  readonly upstream: string;
  /** Hash that the code of its upstream must have; absent: any. */
  readonly integrity?: string;
  /** Options of the upstream. */
  readonly with: Readonly<Record<string, unknown>>;
  /** Absent: `none`, which not every upstream takes. */
  readonly account?: AccountConfig;
  readonly baseUrl?: string;
  /** `slots[0]`. */
  readonly path: string;
  /** Position of the entry. */
  readonly at: Position;
  /** Position of a key within the entry; the nearest enclosing one if it is absent. */
  readonly positionOf: (path: readonly (string | number)[]) => Position;
  /** False for a part of the entry with a problem that is reported already. */
  readonly isValid: (path: readonly (string | number)[]) => boolean;
}

/** Cooldowns of a slot. */
export type CooldownPolicy = SlotSettings['cooldown'];

/** Exponential backoff: starts at `firstMs` and doubles each time, up to `maxMs`. */
export type Backoff = CooldownPolicy['rateLimited'];

export interface SlotConfig extends SlotPluginsConfig, SlotSettings {
  readonly id: string;
  /** Globs over catalog ids; `*` also matches models that are not in the catalog. */
  readonly models: readonly string[];
  /** Upstream's own names of models, by the globs of `models` that have one. */
  readonly upstreamModels?: Readonly<Record<string, string>>;
  /** Serves the models that its upstream lists, and any model as long as the list is not known. */
  readonly discovers?: boolean;
  /** Globs over the names of those models; absent: all. */
  readonly filter?: readonly string[];
  /** Of a slot in the config file alone. */
  readonly tls?: TlsConfig;
  /** Slot entered in the console: connections to link-local and metadata addresses are refused. */
  readonly isGuarded?: boolean;
}

/** A checked config: every field is present, typed and in base units. */
export interface Config extends SettledSections {
  /** Path as given on the command line; used in messages. */
  readonly file: string;
  /** Absolute path; relative paths in the config start here. */
  readonly baseDir: string;
  /** The default pipeline. */
  readonly pipeline: readonly StageConfig[];
  /** Named pipelines, in the order in which their conditions are asked. */
  readonly pipelines: readonly PipelineConfig[];
  readonly formats: readonly FormatConfig[];
  readonly slots: readonly SlotConfig[];
  readonly models: readonly CatalogModel[];
  /** Position of `store`. */
  readonly storeAt: Position;
  /** Contents of the file before environment variables are substituted; may hold secrets. */
  readonly written: unknown;
}

/** A problem of a config, in words that include the fix. */
export interface ConfigProblem {
  readonly at: Position;
  /** `pipeline[3].with.cap`; empty for the file as a whole. */
  readonly path: string;
  /** Name of the stage that the message is about; the message continues from this name. */
  readonly subject?: string;
  /** Named pipeline in which this is a problem; absent: it is one of the default pipeline, or of no pipeline. */
  readonly pipeline?: string;
  /** The error, then the fix. */
  readonly message: string;
}

/** All problems of a config at once. Its message has one line per problem, in the order of the file. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const sorted = problems.toSorted(byPlace);
    super(sorted.map(formatProblem).join('\n'));
    this.name = 'ConfigError';
    this.problems = sorted;
  }
}

/** Failure of a resource that the config names, such as its store: another start may succeed with the same config. */
export class StartError extends ConfigError {}

function byPlace({ at: a }: ConfigProblem, { at: b }: ConfigProblem): number {
  return a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column;
}

/**
 * One line per problem: `config/gateway.yaml:14:5 pipeline[3].with.cap: must be a whole number, not a string;
 * write it without quotes`, or, about a whole stage, `config/gateway.yaml:14:5 pipeline[3] "usage-mask" needs
 * "reply", which no stage provides; …`.
 */
export function formatProblem({ at, path, subject, message, pipeline }: ConfigProblem): string {
  const what = subject === undefined ? path && `${path}: ` : `${path} "${subject}" `;
  const where = pipeline === undefined ? '' : ` (in the pipeline "${pipeline}")`;
  return `${at.file}:${at.line}:${at.column} ${what}${message}${where}`;
}

/** Position in words, seen from another one: `line 12`, with the file where that is another. */
export function formatPlace(at: Position, from: Position): string {
  return at.file === from.file ? `line ${at.line}` : `line ${at.line} of ${at.file}`;
}

/** The problems of a refused config as sentences; rethrows any other error. */
export function problemsOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems.map(formatProblem);
  throw error;
}
