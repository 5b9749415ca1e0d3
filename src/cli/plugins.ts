import path from 'node:path';
import { formatProblem, type ConfigProblem } from '../config/config.js';
import type { Environment } from '../config/environment.js';
import { readConfig, readConfigFile } from '../config/load.js';
import { otherFile } from '../gateway/load-config.js';
import { align } from '../engine/pipeline/run/describe.js';
import { installedPlugins, type InstalledPlugin } from '../engine/pipeline/load/installed-plugins.js';
import { listPlugins } from '../engine/pipeline/load/listed-plugins.js';
import { builtinFolder } from '../engine/pipeline/load/import/resolve.js';
import { describeCode, type DescribedPlugin } from './plugins/describe-code.js';
import type { SuiteResult } from './plugins/suites.js';

export interface PluginsReport {
  readonly text: string;
  /** 1 if a plugin could not be loaded, breaks a rule of its suite, or has a malformed `integrity`. */
  readonly exitCode: 0 | 1;
}

interface PluginsOptions {
  readonly isJson: boolean;
  /** Runs the conformance suites, too. */
  readonly isChecked: boolean;
}

/**
 * Lists the installed packages that bring plugins, and the plugins that a config loads, even if it has other problems.
 * Throws a ConfigError if the config cannot be read.
 */
export async function plugins(
  file: string,
  env: Environment,
  { isJson, isChecked }: PluginsOptions,
): Promise<PluginsReport> {
  const config = readConfig(await readConfigFile(file, env, otherFile));
  const where = { baseDir: config.baseDir, builtins: builtinFolder };
  const installed = await installedPlugins(config.baseDir);
  const listed = await listPlugins(config, where);
  const loaded = await Promise.all(listed.map((plugin) => describeCode(plugin, config.baseDir)));
  const suites = isChecked ? await (await import('./plugins/suites.js')).runSuites(config, where) : undefined;
  const hasFailed =
    loaded.some(({ problem }) => problem !== undefined) || suites?.some(({ failed }) => failed.length > 0);
  const problems = config.problems.filter(isOfIntegrity).map(formatProblem);
  const shown = loaded.map(({ isOutside: _, ...plugin }) => plugin);
  const report = { config: file, installed, loaded: shown, problems, ...(suites && { checks: suites }) };
  const text = isJson
    ? `${JSON.stringify(report, null, 2)}\n`
    : [
        ...listText(file, installed, loaded),
        ...(suites ? suiteText(suites) : []),
        ...(problems.length > 0 ? ['', 'problems', ...problems.map((problem) => `  ${problem}`)] : []),
        '',
      ].join('\n');
  return { text, exitCode: hasFailed || problems.length > 0 ? 1 : 0 };
}

/** True for a malformed `integrity`, with whose entry a plugin may be missing from the list. */
function isOfIntegrity({ path: at }: ConfigProblem): boolean {
  return at.endsWith('.integrity');
}

function listText(
  file: string,
  installed: readonly InstalledPlugin[],
  loaded: readonly DescribedPlugin[],
): readonly string[] {
  return [
    'installed packages (keyword gw2api-plugin, peer gw2api)',
    ...align(installed.map((one) => [one.name, one.version, `gw2api ${one.peer}`, place(one.folder)])),
    ...(installed.length === 0 ? ['  none'] : []),
    '',
    `loaded by ${file}`,
    ...align([
      ['kind', 'use', 'name', 'version', 'api', 'file'],
      ...loaded.map(({ kind, use, name, version = '-', api, file: source, problem }) =>
        problem === undefined
          ? [kind, use, name, version, String(api ?? '-'), place(source ?? '')]
          : [kind, use, '-', '-', '-', `FAILED: ${problem}`],
      ),
    ]),
    ...outsideText(loaded.filter(({ isOutside, problem }) => isOutside && problem === undefined)),
  ];
}

function outsideText(outside: readonly DescribedPlugin[]): readonly string[] {
  if (outside.length === 0) return [];
  return [
    '',
    'from outside of the gateway',
    ...align([
      ['use', 'integrity', 'provides', 'seals', 'doors', 'isolated'],
      ...outside.map(({ use, integrity, uncovered = '', provides, seals, doors, isolated }) => [
        use,
        integrity ?? `none: ${uncovered}`,
        ...[provides, seals, doors].map((names = []) => names.join(', ') || '-'),
        isolated ? 'yes' : 'no',
      ]),
    ]),
  ];
}

function suiteText(suites: readonly SuiteResult[]): readonly string[] {
  const lines = suites.flatMap(({ kind, use, path: at, passed, failed, leftOut }) => {
    const subject = `${kind} ${use} (${at})`;
    if (leftOut !== undefined) return [`  - ${subject}: not checked: ${leftOut}`];
    if (failed.length === 0) return [`  ✓ ${subject}: ${passed} passed`];
    const faults = failed.map(({ name, message }) => `      ${name}: ${message}`);
    return [`  ✗ ${subject}: ${passed} passed, ${failed.length} failed`, ...faults];
  });
  return ['', 'conformance', ...(lines.length === 0 ? ['  no plugins from outside'] : lines)];
}

/** A path relative to the working directory, if that is shorter. */
function place(name: string): string {
  const relative = path.relative(process.cwd(), name);
  return relative.length < name.length ? relative : name;
}
