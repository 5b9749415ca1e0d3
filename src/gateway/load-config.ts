import { ConfigError, type Config } from '../config/config.js';
import { readConfig, readConfigFile, type ConfigInput } from '../config/load.js';
import type { Environment } from '../config/substitute.js';
import { loadStages } from '../pipeline/load-stages.js';
import { builtinFolder } from '../pipeline/resolve.js';

/**
 * Loads and checks a config file. Throws a ConfigError with all problems, including those of plugins and
 * their order; `cure` is the advice if the file cannot be read.
 */
export async function loadGatewayConfigFile(file: string, env: Environment, cure?: string): Promise<Config> {
  return loadGatewayConfig(await readConfigFile(file, env, cure));
}

/** Checks a config from YAML text. Throws a ConfigError with all problems. */
export async function loadGatewayConfig(input: ConfigInput): Promise<Config> {
  const { config, pipeline, baseDir, problems } = readConfig(input);
  // Plugins of a valid config are checked at setup; others are loaded only to report their problems.
  if (config) return config;
  const stages = await loadStages(pipeline, { baseDir, builtins: builtinFolder });
  throw new ConfigError([...problems, ...stages.problems]);
}
