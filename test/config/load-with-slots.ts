import { ConfigError, type Config } from '#src/config/config.js';
import { readConfig, type ConfigInput } from '#src/config/load.js';
import { loadSlots } from '#src/engine/pipeline/load/load-slots.js';
import { builtinFolder } from '#src/engine/pipeline/load/import/resolve.js';

/** Loads a config with the plugins of its slots. Throws a ConfigError with the problems of both. */
export async function loadWithSlots(input: ConfigInput): Promise<Config> {
  const { config, slots, baseDir, problems } = readConfig(input);
  const loaded = await loadSlots(slots, { baseDir, builtins: builtinFolder });
  if (config && loaded.problems.length === 0) return config;
  throw new ConfigError([...problems, ...loaded.problems]);
}
