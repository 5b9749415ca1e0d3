import type { ConfigProblem, SlotPluginsConfig } from '../../../config/config.js';
import { writePath, type Path } from '../../../config/document.js';
import { integrityText } from '../../../config/stage-schema.js';
import type { AccountKind, UpstreamKind } from '../../../plugin/core.js';
import type { SchemaError } from '../../../plugin/upstream/index.js';
import { loadEntry, type LoadedPlugin, type Loading, loadBuiltins } from './load-plugin.js';
import { builtinNames } from './import/resolve.js';
import { accountKind, upstreamKind } from './slot-kinds.js';
import { isRecord } from '../../../kit/schema/record.js';

/** The plugins of a slot, with their options, defaults filled in. */
export interface LoadedSlot {
  readonly upstream: Chosen<UpstreamKind>;
  readonly account: Chosen<AccountKind>;
}

interface Chosen<Kind> {
  readonly plugin: Kind;
  readonly options: Readonly<Record<string, unknown>>;
}

export interface LoadedSlots {
  /** Undefined if there is a problem. */
  readonly slots: readonly (LoadedSlot | undefined)[];
  readonly problems: readonly ConfigProblem[];
}

/** Loads the plugins of slots and checks their options. Returns config errors, never throws them. */
export async function loadSlots(configs: readonly SlotPluginsConfig[], where: Loading): Promise<LoadedSlots> {
  const loaded = await Promise.all(configs.map((config) => loadSlot(config, where)));
  return {
    slots: loaded.map(({ slot }) => slot),
    problems: loaded.flatMap(({ problems }) => problems),
  };
}

/** Loads an upstream that another one opens. Throws an Error whose message names it. */
export async function loadUpstream(
  use: string,
  options: Readonly<Record<string, unknown>>,
  where: Loading,
): Promise<Chosen<UpstreamKind>> {
  const nowhere = { file: '', line: 1, column: 1 };
  const entry = { use, with: options, path: use, positionOf: () => nowhere };
  const { plugin, problems, options: filled } = await loadEntry(upstreamKind, entry, where);
  const [problem] = problems;
  if (plugin && !problem) return { plugin, options: filled };
  throw new Error(`The upstream "${use}" ${problem?.message ?? 'cannot be loaded'}.`);
}

async function loadSlot(
  config: SlotPluginsConfig,
  where: Loading,
): Promise<{ readonly slot: LoadedSlot | undefined; readonly problems: readonly ConfigProblem[] }> {
  const { integrity: _, ...place } = config;
  const entry = { ...config, usePath: ['upstream'], use: config.upstream };
  const own = { ...place, usePath: ['account', 'kind'], withPath: ['account'], ...accountEntry(config) };
  const [upstream, account] = await Promise.all([
    loadEntry(upstreamKind, entry, where),
    loadEntry(accountKind, own, where),
  ]);
  const vendorMessage = upstream.plugin ? undefined : await vendorsUpstream(config.upstream, where);
  const problems = [
    ...upstream.problems.map((problem) =>
      vendorMessage === undefined ? problem : { ...problem, message: vendorMessage },
    ),
    ...ownFaults(config, ['with'], upstream),
    ...(config.isValid(['account', 'kind']) ? account.problems : []),
    ...ownFaults(config, ['account'], account),
    ...(upstream.plugin ? missingSettings(config, upstream.plugin, upstream) : []),
    ...(upstream.plugin ? addedPaths(config, upstream.plugin) : []),
  ];
  if (problems.length > 0 || !upstream.plugin || !account.plugin) return { slot: undefined, problems };
  const chosen = { plugin: upstream.plugin, options: upstream.options };
  return {
    slot: { upstream: chosen, account: { plugin: account.plugin, options: account.options } },
    problems,
  };
}

/** Kind of a slot's account, with the hash of its code and its options. */
export function accountEntry({ account }: Pick<SlotPluginsConfig, 'account'>) {
  const { kind = 'none', integrity, ...options } = account ?? {};
  return {
    use: kind,
    with: options,
    ...(integrity !== undefined && {
      integrity: integrityText(integrity),
      integrityPath: ['account', 'integrity'],
    }),
  };
}

/** Problems that the plugin itself finds in valid options. */
function ownFaults(
  config: SlotPluginsConfig,
  root: Path,
  { plugin, options, problems }: LoadedPlugin<UpstreamKind | AccountKind>,
): readonly ConfigProblem[] {
  if (!plugin || problems.length > 0 || !config.isValid(root)) return [];
  try {
    return plugin
      .check(options)
      .map(({ path, message }: SchemaError) => problemAt(config, [...root, ...path], message));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [problemAt(config, root, `cannot be checked by "${plugin.name}": ${why}`)];
  }
}

/** Problem of a base URL that already ends in a path that calls append, the most common mistake. */
function addedPaths(config: SlotPluginsConfig, { adds }: UpstreamKind): readonly ConfigProblem[] {
  const { baseUrl = '' } = config;
  if (!config.isValid(['baseUrl'])) return [];
  const [added] = adds.filter((path) => baseUrl.endsWith(path)).toSorted((a, b) => b.length - a.length);
  if (added === undefined) return [];
  return [problemAt(config, ['baseUrl'], `ends in ${added}, which every call adds; remove it`)];
}

/** Problems of a slot that lacks a setting its upstream needs. */
function missingSettings(
  config: SlotPluginsConfig,
  plugin: UpstreamKind,
  { options, problems }: LoadedPlugin<UpstreamKind>,
): readonly ConfigProblem[] {
  const { name, needs, accounts } = plugin;
  const { kind = 'none' } = config.account ?? {};
  const hasOwn = problems.length > 0 || plugin.baseUrl(options) !== undefined;
  const missing = needs.filter(
    (key) => config[key] === undefined && config.isValid([key]) && !(key === 'baseUrl' && hasOwn),
  );
  const faults = missing.map((key) => problemAt(config, [key], required[key]));
  const isFit = !accounts || accounts.includes(kind);
  if (isFit || missing.includes('account') || !config.isValid(['account'])) return faults;
  const accepted = `is of a kind that "${name}" does not accept; it accepts ${accounts.join(', ')}`;
  return [...faults, problemAt(config, ['account'], accepted)];
}

const required = {
  baseUrl: 'is required: the address of the upstream, `https://upstream.example`',
  account:
    'is required; write `account: { kind: api-key, key: "${NAME}" }`, or `{ kind: none }` if none is needed',
};

function problemAt(config: SlotPluginsConfig, path: Path, message: string): ConfigProblem {
  return { at: config.positionOf(path), path: `${config.path}.${writePath(path)}`, message };
}

/** Names of the built-in kinds. */
export function builtinKinds(of: 'upstream' | 'account', where: Loading): Promise<readonly string[]> {
  const { folder } = of === 'upstream' ? upstreamKind : accountKind;
  return builtinNames(where.builtins, folder);
}

/**
 * Message for a vendor's name in place of an upstream, which names a protocol: `openai` is a preset of `chat`.
 * Undefined for other names.
 */
async function vendorsUpstream(use: string, where: Loading): Promise<string | undefined> {
  if (use === 'anthropic') return 'is a vendor; the upstream is its protocol: write `upstream: messages`';
  const preset = otherNames.get(use) ?? use;
  const kinds = await loadBuiltins(upstreamKind, where);
  const kind = kinds.find(({ options }) => presetsOf(options).includes(preset));
  if (!kind) return undefined;
  return `is a preset of the upstream "${kind.name}"; write \`upstream: ${kind.name}\` and \`with: { preset: ${preset} }\``;
}

/** Presets by further names of their vendors. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['azure', 'azure-openai'],
  ['gemini', 'google'],
  ['llamacpp', 'llama-cpp'],
  ['lmstudio', 'lm-studio'],
]);

/** Values of the option `preset` of a kind. */
function presetsOf({ properties }: Readonly<Record<string, unknown>>): readonly unknown[] {
  const { preset } = isRecord(properties) ? properties : {};
  const values = isRecord(preset) ? preset['enum'] : undefined;
  return Array.isArray(values) ? values : [];
}
