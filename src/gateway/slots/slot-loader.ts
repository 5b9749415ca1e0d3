import path from 'node:path';
import { ConfigError, type Config } from '../../config/config.js';
import { loadSlots, loadUpstream } from '../../engine/pipeline/load/load-slots.js';
import { builtinFolder } from '../../engine/pipeline/load/resolve.js';
import type { SlotLoader } from '../../engine/slots/open-slot.js';

/** Loader of the plugins that the slots of a config, and those of the console, name. */
export function slotLoader({ baseDir }: Pick<Config, 'baseDir'>): SlotLoader {
  const where = { baseDir, builtins: builtinFolder };
  return {
    async slot(config) {
      const { slots, problems } = await loadSlots([config], where);
      const [slot] = slots;
      if (!slot) throw new ConfigError(problems);
      return slot;
    },
    resolvePath: (file) => path.resolve(baseDir, file),
    upstream: (use, options) => loadUpstream(use, options, where),
  };
}
