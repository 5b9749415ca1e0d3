import { diffConfigs } from '../config/diff/diff-configs.js';
import { isEmptyDiff } from '../config/diff/config-diff.js';
import type { LoadedConfig } from '../config/diff/loaded-config.js';
import { ConfigError } from '../config/config.js';
import type { Environment } from '../config/environment.js';
import { loadGatewayConfigFile } from '../gateway/load-config.js';
import { loadPlugins } from '../gateway/reload/loaded-config.js';
import { UsageError } from '../gateway/start-failure.js';
import { diffText } from './diff-text.js';

interface DiffResult {
  readonly text: string;
  /** 1 if the configs differ, as in `diff`. */
  readonly exitCode: 0 | 1;
}

/**
 * Compares the effects of two config files, for people or as JSON. Sets no plugin up and connects to nothing. Throws a
 * UsageError (exit code 2) with the problems of an invalid config.
 */
export async function diff(
  [before, after]: readonly [string, string],
  env: Environment,
  { isJson, isColoured }: { readonly isJson: boolean; readonly isColoured: boolean },
): Promise<DiffResult> {
  const [old, now] = await Promise.all([load(before, env), load(after, env)]);
  const changes = diffConfigs(old, now);
  const text = isJson ? `${JSON.stringify(changes, null, 2)}\n` : diffText(changes, { isColoured });
  return { text, exitCode: isEmptyDiff(changes) ? 0 : 1 };
}

async function load(file: string, env: Environment): Promise<LoadedConfig> {
  try {
    return await loadPlugins(await loadGatewayConfigFile(file, env));
  } catch (error) {
    if (error instanceof ConfigError) throw new UsageError(error.message);
    throw error;
  }
}
