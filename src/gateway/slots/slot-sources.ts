import path from 'node:path';
import { ConfigError, type SlotConfig, type Config } from '../../config/config.js';
import { readConsoleSlot, type ConsoleTerms } from './console-slots.js';
import type { Logger } from '../../plugin/index.js';
import type { Store, StoredSlot } from '../../state/store/contract/store.js';
import type { Replacements } from '../../engine/slots/pool/pool-options.js';
import type { SlotPool } from '../../engine/slots/pool/pool.js';
import { loadSlots, loadUpstream } from '../../engine/pipeline/load/load-slots.js';
import { builtinFolder } from '../../engine/pipeline/load/import/resolve.js';
import type { SlotLoader } from '../../engine/slots/open-slot.js';

/** Slot of the console as stored, with the problem that keeps it from serving. */
export interface ConsoleSlot {
  readonly stored: StoredSlot;
  readonly problem?: string;
}

interface SlotSourcesOptions {
  readonly store: Store;
  readonly log: Logger;
  /** Loader of the plugins that the slots of a config name; default the built-in one. */
  readonly loaderOf?: typeof slotLoader;
}

/**
 * Merges the slots of the config file and of the console into the pool. An invalid slot of the console does not affect
 * the others.
 */
export class SlotSources {
  readonly #pool: SlotPool;
  readonly #store: Store['slots'];
  readonly #log: Logger;
  readonly #loaderOf: typeof slotLoader;
  #console: readonly ConsoleSlot[] = [];

  constructor(pool: SlotPool, { store, log, loaderOf = slotLoader }: SlotSourcesOptions) {
    this.#loaderOf = loaderOf;
    this.#pool = pool;
    this.#store = store.slots;
    this.#log = log;
  }

  /** Console slots as last taken, without those with the id of a slot in the config file. */
  get console(): readonly ConsoleSlot[] {
    return this.#console;
  }

  /**
   * Loads the slots of the config and of the store into the pool. Throws only the errors of the config's own
   * slots.
   */
  async take(config: ConsoleTerms, models?: Replacements['models']): Promise<void> {
    const { slots: configured } = config;
    const replacements = { plugins: this.#loaderOf(config), ...(models && { models }) };
    const stored = await this.#read();
    const own = stored.filter(({ id }) => !configured.some((slot) => slot.id === id));
    for (const { id } of stored.filter((slot) => !own.includes(slot)))
      this.#log.warn(
        { slot: id },
        'The config file has a slot with this id; the slot of the console is ignored. Rename or remove one of them.',
      );
    const read = await Promise.all(
      own.map(async (slot) => ({ stored: slot, ...(await readStored(slot, config)) })),
    );
    const valid = read.flatMap(({ slot }) => (slot ? [slot] : []));
    const refusals = await this.#serve(configured, valid, this.#tried(read), replacements);
    this.#console = read.map(({ stored: slot, problem = refusals.get(slot.id) }) => ({
      stored: slot,
      ...(problem !== undefined && { problem }),
    }));
    for (const { stored: slot, problem } of this.#console)
      if (problem !== undefined)
        this.#log.error({ slot: slot.id, problem }, 'A slot of the console is disabled by a problem.');
  }

  /** Reads the stored slots; if the store cannot be read, the last known slots are kept. */
  async #read(): Promise<readonly StoredSlot[]> {
    try {
      return await this.#store.list();
    } catch (error) {
      this.#log.error({ err: error }, 'The slots of the console cannot be read; the known ones are kept.');
      return this.#console.map(({ stored }) => stored);
    }
  }

  /**
   * Returns the problems of console slots that do not serve, by id. If not all slots can be taken at once,
   * unchanged slots that served before go first, so that they keep their states.
   */
  async #serve(
    configured: readonly SlotConfig[],
    stored: readonly SlotConfig[],
    tried: readonly SlotConfig[],
    replacements: Replacements,
  ): Promise<ReadonlyMap<string, string>> {
    for (const first of [stored, tried]) {
      if (first.length === 0) continue;
      try {
        await this.#pool.reload([...configured, ...first], replacements);
        return this.#addEach([...configured, ...first], without(stored, first));
      } catch (error) {
        this.#log.debug({ err: error }, 'The slots could not all be loaded together.');
      }
    }
    await this.#pool.reload(configured, replacements);
    return this.#addEach(configured, stored);
  }

  /** Slots that serve already and have not changed since. */
  #tried(read: readonly (Read & { readonly stored: StoredSlot })[]): readonly SlotConfig[] {
    const isTried = ({ id, updatedAtMs }: StoredSlot) =>
      this.#console.some(
        ({ stored, problem }) =>
          problem === undefined && stored.id === id && stored.updatedAtMs === updatedAtMs,
      );
    return read.flatMap(({ slot, stored }) => (slot && isTried(stored) ? [slot] : []));
  }

  /** Adds slots one at a time, to find those with an upstream that cannot be opened. */
  async #addEach(
    configured: readonly SlotConfig[],
    stored: readonly SlotConfig[],
  ): Promise<ReadonlyMap<string, string>> {
    const serving = [...configured];
    const refusals = new Map<string, string>();
    for (const slot of stored) {
      try {
        await this.#pool.reload([...serving, slot]);
        serving.push(slot);
      } catch (error) {
        refusals.set(slot.id, problemOf(error));
      }
    }
    return refusals;
  }
}

/** Config entry of a stored slot, in the form used under `slots:`. */
export function entryOf({ id, settings, account }: StoredSlot): Readonly<Record<string, unknown>> {
  return { id, ...settings, account };
}

function without(slots: readonly SlotConfig[], taken: readonly SlotConfig[]): readonly SlotConfig[] {
  return slots.filter((slot) => !taken.includes(slot));
}

/** Checked slot of the store, or the problem that keeps it from serving. */
interface Read {
  readonly slot?: SlotConfig;
  readonly problem?: string;
}

async function readStored(stored: StoredSlot, config: ConsoleTerms): Promise<Read> {
  if (stored.problem !== undefined) return { problem: stored.problem };
  const { slot, problems } = await readConsoleSlot(entryOf(stored), config);
  return slot ? { slot } : { problem: problems.join('\n') };
}

function problemOf(error: unknown): string {
  if (error instanceof ConfigError)
    return error.problems
      .map(({ path, message }) => `Its ${path.endsWith('.account.kind') ? 'account' : 'upstream'} ${message}`)
      .join('\n');
  return `Its upstream cannot be opened: ${error instanceof Error ? error.message : String(error)}`;
}

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
