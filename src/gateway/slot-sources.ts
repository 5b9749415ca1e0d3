import type { Config, SlotConfig } from '../config/config.js';
import { readSlot } from '../config/one-slot.js';
import type { Logger, Store, StoredSlot } from '../plugin/index.js';
import type { Replacements, SlotPool } from '../slots/pool.js';

/** A slot of the console: as it is stored, and what keeps it from serving. */
export interface ConsoleSlot {
  readonly stored: StoredSlot;
  readonly problem?: string;
}

/** Gives the pool the slots of the config file and those of the console, of which no bad one keeps another from serving. */
export class SlotSources {
  readonly #pool: SlotPool;
  readonly #store: Store['slots'];
  readonly #log: Logger;
  #console: readonly ConsoleSlot[] = [];

  constructor(pool: SlotPool, { store, log }: { readonly store: Store; readonly log: Logger }) {
    this.#pool = pool;
    this.#store = store.slots;
    this.#log = log;
  }

  /** Those of the console, as they were taken last; without those whose id a slot of the config file has. */
  get console(): readonly ConsoleSlot[] {
    return this.#console;
  }

  /** Has the pool serve the slots of the config and those that the store has now. Throws what the config's own ones make it throw. */
  async take(config: Pick<Config, 'slots' | 'console'>, replacements: Replacements = {}): Promise<void> {
    const { slots: configured } = config;
    const stored = await this.#read();
    const own = stored.filter(({ id }) => !configured.some((slot) => slot.id === id));
    for (const { id } of stored.filter((slot) => !own.includes(slot)))
      this.#log.warn(
        { slot: id },
        'The config file has a slot of this id: the one of the console is not used.',
      );
    const read = own.map((slot) => ({ stored: slot, ...readStored(slot, config.console) }));
    const sound = read.flatMap(({ slot }) => (slot ? [slot] : []));
    const refusals = await this.#serve(configured, sound, this.#tried(read), replacements);
    this.#console = read.map(({ stored: slot, problem = refusals.get(slot.id) }) => ({
      stored: slot,
      ...(problem !== undefined && { problem }),
    }));
    for (const { stored: slot, problem } of this.#console)
      if (problem !== undefined)
        this.#log.error({ slot: slot.id, problem }, 'A slot of the console does not serve.');
  }

  /** What a store that cannot be read had before stays. */
  async #read(): Promise<readonly StoredSlot[]> {
    try {
      return await this.#store.list();
    } catch (error) {
      this.#log.error({ err: error }, 'The slots of the console cannot be read; those that are known stay.');
      return this.#console.map(({ stored }) => stored);
    }
  }

  /**
   * Gives what is wrong with those of the console that do not serve, by id. Where not all can be taken at once, those that
   * have served as they are go first, so that they keep their states.
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
        this.#log.debug({ err: error }, 'Not all slots could be taken at once.');
      }
    }
    await this.#pool.reload(configured, replacements);
    return this.#addEach(configured, stored);
  }

  /** Those that serve already, and have not been changed since. */
  #tried(read: readonly (Read & { readonly stored: StoredSlot })[]): readonly SlotConfig[] {
    const isTried = ({ id, updatedAtMs }: StoredSlot) =>
      this.#console.some(
        ({ stored, problem }) =>
          problem === undefined && stored.id === id && stored.updatedAtMs === updatedAtMs,
      );
    return read.flatMap(({ slot, stored }) => (slot && isTried(stored) ? [slot] : []));
  }

  /** One after the other, to find whose upstream cannot be opened. */
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
        refusals.set(slot.id, inWords(error));
      }
    }
    return refusals;
  }
}

/** An entry as it would stand under `slots:`. */
export function entryOf({ id, settings, account }: StoredSlot): Readonly<Record<string, unknown>> {
  return { id, ...settings, account };
}

function without(slots: readonly SlotConfig[], taken: readonly SlotConfig[]): readonly SlotConfig[] {
  return slots.filter((slot) => !taken.includes(slot));
}

/** A slot of the store that is fit to serve, or why it is not. */
interface Read {
  readonly slot?: SlotConfig;
  readonly problem?: string;
}

function readStored(stored: StoredSlot, terms: Config['console']): Read {
  if (stored.problem !== undefined) return { problem: stored.problem };
  const { slot, problems } = readSlot(entryOf(stored), 'console', terms);
  return slot ? { slot } : { problem: problems.join('\n') };
}

function inWords(error: unknown): string {
  return `Its upstream cannot be opened: ${error instanceof Error ? error.message : String(error)}`;
}
