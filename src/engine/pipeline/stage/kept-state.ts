import type { Host } from '../../../plugin/index.js';

interface Kept {
  readonly value: unknown;
  readonly dispose: () => void | Promise<void>;
  users: number;
}

/** State of stages that a reload hands over, by stage and key, for as long as a pipeline uses it. */
export class KeptState {
  readonly #kept = new Map<string, Kept>();

  /**
   * `host.keep` of one stage. What it gives is released by the functions that it passes to `onRelease`; the last
   * one to do so disposes it.
   */
  keeper(stage: string, onRelease: (release: () => Promise<void>) => void): Host['keep'] {
    return (key, make, dispose) => {
      const id = JSON.stringify([stage, key]);
      const kept = this.#kept.get(id) ?? newKept(make(), dispose);
      this.#kept.set(id, kept);
      kept.users += 1;
      onRelease(() => this.#release(id, kept));
      return kept.value as ReturnType<typeof make>; // made for the same stage and key
    };
  }

  async #release(id: string, kept: Kept): Promise<void> {
    kept.users -= 1;
    if (kept.users > 0) return;
    this.#kept.delete(id);
    await kept.dispose();
  }
}

function newKept<Value>(value: Value, dispose?: (value: Value) => void | Promise<void>): Kept {
  return { value, dispose: () => dispose?.(value), users: 0 };
}
