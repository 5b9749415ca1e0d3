import path from 'node:path';
import { readFile } from 'node:fs/promises';
import { readCatalog } from './catalog.js';
import { checkSource, type Checked } from './checked.js';
import {
  ConfigError,
  type Config,
  type FormatConfig,
  type ConfigProblem,
  type PipelineConfig,
  type SlotConfig,
  type SlotPluginsConfig,
  type StageConfig,
} from './config.js';
import { locate, readSource, readWritten, writePath, type Source } from './document.js';
import { settleSections } from './sections/sections.js';
import { storeFields } from './sections/state.js';
import { ruleErrors } from './rules.js';
import { ConfigSchema, type RawConfig } from './schema.js';
import type { RawSlot } from './slots/slot-schema.js';
import { validSlotPlugins, toSlot, variableErrors } from './slots/slots.js';
import { duplicateNames } from './pipelines/entry-rules.js';
import { readPipelines } from './pipelines/read-pipelines.js';
import { readStages, withoutSwitchedOff } from './stages.js';
import { readTls, type TlsReading } from './tls-files.js';
import type { Environment, Placeholders } from './environment.js';

export interface ConfigInput {
  /** YAML text. */
  readonly text: string;
  /** File name in messages. */
  readonly file: string;
  readonly env: Environment;
  /** Folder where relative paths start; default: the folder of `file`. */
  readonly baseDir?: string;
  /** Stand-ins for secrets that the environment lacks; by default they are problems. */
  readonly placeholders?: Placeholders;
}

/** The readable parts of a config, and its problems. */
export interface ConfigReading {
  /** Undefined if there is any problem. */
  readonly config: Config | undefined;
  /** The pipeline, also if other parts are wrong, so that all problems are reported together. */
  readonly pipeline: readonly StageConfig[];
  /** The named pipelines, as far as they can be read. */
  readonly pipelines: readonly PipelineConfig[];
  /** The formats, unless they are wrong. */
  readonly formats: readonly FormatConfig[];
  /** The plugins of all slots, as far as they are valid. */
  readonly slots: readonly SlotPluginsConfig[];
  /** Absolute path; relative paths start here. */
  readonly baseDir: string;
  /** Absolute paths of the config file, the catalog, and the files that both name for secrets and TLS. */
  readonly files: readonly string[];
  /** Files of named pipelines, and files that variables in these name. */
  readonly pipelineFiles: readonly string[];
  readonly problems: readonly ConfigProblem[];
}

/** Loads a checked config from YAML text. Throws a ConfigError with all problems at once. */
export function loadConfig(input: ConfigInput): Config {
  const { config, problems } = readConfig(input);
  if (!config) throw new ConfigError(problems);
  return config;
}

/**
 * Reads the input for `loadConfig` and `readConfig`. Throws a ConfigError if the file cannot be read; `cure`
 * is the fix in its message.
 */
export async function readConfigFile(file: string, env: Environment, cure?: string): Promise<ConfigInput> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'the file does not exist' : `cannot be read (${error.code})`;
    const message = cure === undefined ? why : `${why}; ${cure}`;
    throw new ConfigError([{ at: { file, line: 1, column: 1 }, path: '', message }]);
  });
  return { text, file, env };
}

/** Reads and checks a config as far as possible. Never throws for errors in the text. */
export function readConfig(input: ConfigInput): ConfigReading {
  const { text, file, env, baseDir = path.dirname(path.resolve(file)), placeholders } = input;
  const source = withoutSwitchedOff(readSource(text, file, env, path.resolve(baseDir), placeholders));
  const checked = checkSource(source, ConfigSchema);
  const { isValid } = checked;
  const raw = checked.value as RawConfig; // each part is used only if `isValid`
  const dir = path.resolve(baseDir);
  const catalog = isValid(['models'])
    ? readCatalog(source, raw.models, dir, env, placeholders)
    : { models: [], problems: [], files: [] };
  const written = readWritten(text);
  const tls = slotTls(raw, isValid, dir);
  const panelTls = isValid(['panel']) ? oidcTls(raw, dir) : undefined;
  const tlsFiles = [...tls, panelTls].flatMap((reading) => reading?.files ?? []);
  const errors = [
    ...source.errors,
    ...checked.errors,
    ...ruleErrors(raw, source, env, checked),
    ...variableErrors(written),
    ...(placeholders ? [] : [...tls, panelTls].flatMap((reading) => reading?.errors ?? [])),
  ];
  const stages = readStages(raw.pipeline, { source, written, checked, baseDir: dir, prefix: [], owner: {} });
  const place = { source, written, checked, baseDir: dir, env, placeholders };
  const named = readPipelines({ ...place, raw: raw.pipelines, pipeline: stages });
  const formats = isValid(['formats']) ? raw.formats.map((entry, at) => toFormat(entry, at, source)) : [];
  const slots = (Array.isArray(raw.slots) ? raw.slots : []).flatMap(
    (slot, at) => validSlotPlugins(slot, at, source, isValid) ?? [],
  );
  const files = [path.resolve(file), ...(source.files ?? []), ...catalog.files, ...named.files, ...tlsFiles];
  const pipelines = { pipeline: stages, pipelines: named.pipelines };
  const plugins = { ...pipelines, formats, slots, baseDir: dir, files, pipelineFiles: named.files };
  const ofPipelines = [...duplicateNames(stages), ...named.problems];
  const problems = [...locate(errors, source), ...catalog.problems, ...ofPipelines];
  if (problems.length > 0) return { config: undefined, ...plugins, problems };
  const config: Config = {
    file,
    baseDir: dir,
    ...settleSections(raw, { env, store: storeFields(raw.store).url, oidcTls: panelTls?.tls }),
    ...pipelines,
    formats,
    slots: raw.slots.map((slot, at) => withTls(toSlot(slot, at, source), tls[at])),
    models: catalog.models,
    storeAt: source.positionOf(['store']),
    written,
  };
  return { config, ...plugins, problems: [] };
}

/** TLS of each slot with TLS settings. */
function slotTls(
  { slots }: RawConfig,
  isValid: Checked['isValid'],
  baseDir: string,
): readonly (TlsReading | undefined)[] {
  const list: readonly (RawSlot | null)[] = Array.isArray(slots) ? slots : [];
  return list.map((slot, index) => {
    const at = ['slots', index, 'tls'];
    return slot?.tls && isValid(at) ? readTls(slot.tls, { baseDir, at }) : undefined;
  });
}

/** TLS of the connections to the login provider. */
function oidcTls({ panel }: RawConfig, baseDir: string): TlsReading | undefined {
  const files = panel.oidc?.enabled ? panel.oidc.tls : undefined;
  return files && readTls(files, { baseDir, at: ['panel', 'oidc', 'tls'] });
}

function withTls(slot: SlotConfig, { tls }: Partial<TlsReading> = {}): SlotConfig {
  return tls ? { ...slot, tls } : slot;
}

function toFormat(entry: RawConfig['formats'][number], index: number, source: Source): FormatConfig {
  const place = ['formats', index];
  const isName = typeof entry === 'string';
  return {
    use: isName ? entry : entry.use,
    ...(!isName && entry.integrity !== undefined && { integrity: entry.integrity }),
    with: isName ? {} : entry.with,
    usePath: isName ? [] : ['use'],
    path: writePath(place),
    at: source.positionOf(place),
    positionOf: (path) => source.positionOf([...place, ...path]),
  };
}
