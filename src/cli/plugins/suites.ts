import type { ConfigReading } from '../../config/load.js';
import { importModule, isFromOutside } from '../../engine/pipeline/load/import/resolve.js';
import {
  namedPlugins,
  pluginKinds,
  type KindName,
  type NamedPlugin,
} from '../../engine/pipeline/load/listed-plugins.js';
import { loadEntry, type LoadedPlugin, type Loading } from '../../engine/pipeline/load/load-plugin.js';
import { LateError, within } from '../../kit/time/within.js';
import { suiteOf, type Check } from './suite-of.js';

/** Result of the conformance suite of an entry's plugin. */
export interface SuiteResult {
  readonly kind: KindName;
  readonly use: string;
  /** Path of the entry: `pipeline[3]`. */
  readonly path: string;
  readonly passed: number;
  readonly failed: readonly { readonly name: string; readonly message: string }[];
  /** Reason why its suite was not run. */
  readonly leftOut?: string;
}

/** Max time of one check; the rest of a suite is left out after a check that takes longer. */
const checkTimeoutMs = 10_000;

/**
 * Runs the conformance suites of the plugins from outside that a config names, with its options, one after another.
 * Returns faults, never throws them.
 */
export async function runSuites(config: ConfigReading, given: Loading): Promise<readonly SuiteResult[]> {
  const results: SuiteResult[] = [];
  for (const named of namedPlugins(config)) {
    const { kind, use, path, baseDir = given.baseDir } = named;
    if (!(await isFromOutside(use, given, pluginKinds[kind].folder))) continue;
    results.push({ kind, use, path, ...(await runSuite(named, { ...given, baseDir })) });
  }
  return results;
}

type Outcome = Pick<SuiteResult, 'passed' | 'failed' | 'leftOut'>;

async function runSuite(named: NamedPlugin, where: Loading): Promise<Outcome> {
  if (named.isolation) return { passed: 0, failed: [], leftOut: isolatedReason };
  const kind = pluginKinds[named.kind];
  try {
    const loaded: LoadedPlugin<unknown> = await loadEntry<never>(kind as never, named, where); // of this kind
    const [problem] = loaded.problems;
    if (problem) return failedBefore(`${problem.path} ${problem.message}`);
    if (!loaded.plugin) return failedBefore('its entry has problems, which `gw2api check` names');
    const module = await importModule(named.use, where, kind.folder);
    const suite = await suiteOf(named.kind, loaded, { module, baseDir: where.baseDir });
    return typeof suite === 'string' ? { passed: 0, failed: [], leftOut: suite } : await runChecks(suite);
  } catch (error) {
    return failedBefore(wordsOf(error));
  }
}

const isolatedReason =
  'it is isolated, and its suite would import it into this process; run it in its own tests';

function failedBefore(message: string): Outcome {
  return { passed: 0, failed: [{ name: 'loads with the options of the config', message }] };
}

async function runChecks(checks: readonly Check[]): Promise<Outcome> {
  const failed: { readonly name: string; readonly message: string }[] = [];
  let passed = 0;
  for (const { name, run } of checks) {
    const late = `did not end within ${checkTimeoutMs / 1000} s; the checks after it were not run`;
    try {
      await within(run(), checkTimeoutMs, late);
      passed += 1;
    } catch (error) {
      failed.push({ name, message: wordsOf(error) });
      if (error instanceof LateError) break;
    }
  }
  return { passed, failed };
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
