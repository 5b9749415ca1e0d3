import type { Store } from '../plugin/index.js';
import { MemoryStore, type MemoryStoreOptions } from './memory.js';

export interface StoreSettings {
  readonly store: 'memory';
}

/** Opens the store that a config names. */
export async function openStore({ store }: StoreSettings, options: MemoryStoreOptions = {}): Promise<Store> {
  return kinds[store](options);
}

const kinds: Readonly<Record<StoreSettings['store'], (options: MemoryStoreOptions) => Store>> = {
  memory: (options) => new MemoryStore(options),
};
