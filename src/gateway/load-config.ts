import { ConfigError, type Config } from '../config/config.js';
import { readConfig, readConfigFile, type ConfigInput } from '../config/load.js';
import type { Environment } from '../config/substitute.js';
import { loadStages } from '../pipeline/load-stages.js';
import { builtinFolder } from '../pipeline/resolve.js';

/**
 * A checked config from a file. Throws a ConfigError with all that is wrong, its plugins and their order included; `cure`
 * says what helps where the file cannot be read.
 */
export async function loadGatewayConfigFile(file: string, env: Environment, cure?: string): Promise<Config> {
  return loadGatewayConfig(await readConfigFile(file, env, cure));
}

/** A checked config from YAML text. Throws a ConfigError with all that is wrong. */
export async function loadGatewayConfig(input: ConfigInput): Promise<Config> {
  const { config, pipeline, baseDir, problems } = readConfig(input);
  // What is wrong with a sound config's plugins is found when they are set up; here they are only loaded to tell of them.
  if (config) return config;
  const stages = await loadStages(pipeline, { baseDir, builtins: builtinFolder });
  throw new ConfigError([...problems, ...stages.problems]);
}
