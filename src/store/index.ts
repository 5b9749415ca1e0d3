import type { Logger, Store } from '../plugin/index.js';
import { MemoryStore } from './memory/store.js';
import { createVault, type SecretKey } from './credential-cipher.js';

export type { SecretKey } from './credential-cipher.js';

/** Where state is kept, as a config names it. */
export type StoreSettings =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string };

export interface StoreOptions {
  /** What seals credentials (`GW_SECRET_KEY`); without one there are none to be kept. */
  readonly secretKey?: SecretKey;
  readonly log: Logger;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** Opens a store and brings it up to date. Throws a StoreError where that cannot be. Drivers load when they are needed. */
export async function openStore(settings: StoreSettings, options: StoreOptions): Promise<Store> {
  const { log, now = Date.now } = options;
  if (settings.kind === 'memory') return new MemoryStore({ now });
  const parts = { vault: createVault(options.secretKey), log, now };
  if (settings.kind === 'postgres') {
    const { openPostgresStore } = await import('./sql/sql-store.js');
    return openPostgresStore(settings.url, parts);
  }
  const { startSqliteThread } = await import('./sql/sqlite-thread.js');
  const thread = startSqliteThread(settings.file, log); // it loads its driver while Kysely loads here
  const { openSqliteStore } = await import('./sql/sql-store.js');
  return openSqliteStore(thread, parts);
}
