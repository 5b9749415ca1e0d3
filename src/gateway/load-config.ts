import { ConfigError, type Config } from '../config/config.js';
import { readConfig, readConfigFile, type ConfigInput } from '../config/load.js';
import { allStages } from '../config/rules.js';
import type { Environment } from '../config/environment.js';
import { loadFormats } from '../engine/pipeline/load/load-formats.js';
import { loadSlots } from '../engine/pipeline/load/load-slots.js';
import { loadStages } from '../engine/pipeline/load/load-stages.js';
import { builtinFolder } from '../engine/pipeline/load/import/resolve.js';

/** The fix that messages suggest if the config file cannot be read. */
export const otherFile = 'name another by --config FILE or GW_CONFIG';

/**
 * Loads and checks a config file. Throws a ConfigError with all problems, including those of plugins and
 * their order; `cure` is the advice if the file cannot be read.
 */
export async function loadGatewayConfigFile(file: string, env: Environment, cure?: string): Promise<Config> {
  return loadGatewayConfig(await readConfigFile(file, env, cure));
}

/** Checks a config from YAML text. Throws a ConfigError with all problems. */
export async function loadGatewayConfig(input: ConfigInput): Promise<Config> {
  const { config, pipeline, pipelines, formats, slots, baseDir, problems } = readConfig(input);
  const where = { baseDir, builtins: builtinFolder };
  const { problems: refusals } = await loadSlots(slots, where);
  // Stages and formats of a valid config are checked at setup; others are loaded only to report their problems.
  if (config && refusals.length === 0) return config;
  const loaded = await Promise.all([
    loadFormats(formats, allStages({ pipeline, pipelines }), where),
    loadStages(pipeline, where, pipelines),
  ]);
  throw new ConfigError([...problems, ...refusals, ...loaded.flatMap((part) => part.problems)]);
}
