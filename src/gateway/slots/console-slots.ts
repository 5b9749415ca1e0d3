import type { Config, ConfigProblem, SlotConfig, SlotPluginsConfig } from '../../config/config.js';
import { writePath, type Path } from '../../config/document.js';
import { parseConsoleSlot } from '../../config/slots/console-slot.js';
import { builtinKinds, loadSlots, type LoadedSlot } from '../../engine/pipeline/load/load-slots.js';
import { builtinFolder } from '../../engine/pipeline/load/import/resolve.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import { isRecord } from '../../kit/schema/record.js';
import { itemSchemas, keySchemas, schemaBranches } from '../../kit/schema/schema-branches.js';

/** Parts of the config that a slot of the console depends on. */
export type ConsoleTerms = Pick<Config, 'slots' | 'console' | 'baseDir'>;

interface ConsoleReading {
  /** Undefined if there is a problem. */
  readonly slot: SlotConfig | undefined;
  readonly problems: readonly string[];
}

/** Checks a slot of the console and its plugins; problems are one sentence each, the field first. */
export async function readConsoleSlot(entry: unknown, config: ConsoleTerms): Promise<ConsoleReading> {
  const { slot, plugins, problems: own } = parseConsoleSlot(entry, 'console', config.console);
  const problems = [...own, ...(plugins ? await pluginProblems(plugins, config) : [])];
  return { slot: problems.length === 0 ? slot : undefined, problems };
}

async function pluginProblems(plugins: SlotPluginsConfig, config: ConsoleTerms): Promise<readonly string[]> {
  const where = { baseDir: config.baseDir, builtins: builtinFolder };
  const unnamed = await unnamedPlugins(plugins, config);
  if (unnamed.length > 0) return unnamed;
  const { slots, problems } = await loadSlots([plugins], where);
  const [slot] = slots;
  return [
    ...problems.map((problem) => problemText(problem, plugins.path)),
    ...(slot
      ? [
          ...localOptions('with', plugins.with, slot.upstream),
          ...localOptions('account', plugins.account, slot.account),
        ]
      : []),
  ];
}

/** Refuses options that read the gateway's own machine: its files and its identity are the config file's alone. */
function localOptions(
  part: 'with' | 'account',
  written: unknown,
  { plugin }: LoadedSlot['upstream' | 'account'],
): readonly string[] {
  return localPaths(written, plugin.options).map(
    (path) =>
      `${writePath([part, ...path])}: gives access to the gateway's machine; only a slot of the config file may set it`,
  );
}

/** Refuses plugins that the config file does not name: the console must not run any file of the machine. */
async function unnamedPlugins(
  { upstream, account }: SlotPluginsConfig,
  { slots, baseDir }: ConsoleTerms,
): Promise<readonly string[]> {
  const where = { baseDir, builtins: builtinFolder };
  const { kind = 'none' } = account ?? {};
  const upstreams = slots.map((slot) => slot.upstream);
  const kinds = slots.flatMap((slot) => slot.account?.kind ?? []);
  return [
    ...unnamedPlugin('upstream', upstream, [...upstreams, ...(await builtinKinds('upstream', where))]),
    ...unnamedPlugin('account.kind', kind, [...kinds, ...(await builtinKinds('account', where))]),
  ];
}

function unnamedPlugin(field: string, use: string, known: readonly string[]): readonly string[] {
  if (known.includes(use)) return [];
  const meant = didYouMean(use, known);
  const cure = meant
    ? `did you mean "${meant}"?`
    : 'the console accepts others only if a slot of the config file uses them';
  return [`${field}: "${use}" is not built in; ${cure}`];
}

function problemText({ path, subject, message }: ConfigProblem, root: string): string {
  const named = subject === undefined ? message : `"${subject}" ${message}`;
  return path === root ? `The slot ${named}` : `${path.slice(root.length + 1)}: ${named}`;
}

/**
 * Paths of the options that their JSON Schema marks with `local: true`, in whichever of its branches: they make the
 * gateway read a file, the environment or the identity of its own machine.
 */
function localPaths(options: unknown, schema: unknown): readonly Path[] {
  return pathsIn(options, [schema], schema, []);
}

function pathsIn(value: unknown, own: readonly unknown[], root: unknown, path: Path): readonly Path[] {
  if (value === undefined) return [];
  const schemas = schemaBranches(own, root) ?? [];
  if (schemas.some(({ local }) => local === true)) return [path];
  if (Array.isArray(value)) {
    const items = schemas.flatMap(itemSchemas);
    return value.flatMap((item: unknown, at) => pathsIn(item, items, root, [...path, at]));
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const described = schemas.flatMap((schema) => keySchemas(schema, key));
    return pathsIn(inner, described, root, [...path, key]);
  });
}
