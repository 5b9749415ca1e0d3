import type { Logger } from '../../plugin/index.js';
import type { WholeStore } from './contract/store.js';
import type { StoreSettings } from './contract/settings.js';
import { MemoryStore } from './memory/store.js';
import { createCipher, type SecretKey } from './credential-cipher.js';

export type { SecretKey } from './credential-cipher.js';

interface StoreOptions {
  /** Key that seals credentials (`GW_SECRET_KEY`); without it no credentials can be stored. */
  readonly secretKey?: SecretKey;
  /** Former key, which still opens its sealed data (`GW_SECRET_KEY_OLD`), until all is resealed by the new one. */
  readonly oldSecretKey?: string | undefined;
  readonly log: Logger;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** Max time, in ms, to wait for a PostgreSQL that is still starting; default two minutes. */
  readonly waitMs?: number;
}

/** Opens a store and migrates it; drivers are loaded on demand. Throws a StoreError on failure. */
export async function openStore(settings: StoreSettings, options: StoreOptions): Promise<WholeStore> {
  const { log, now = Date.now, waitMs = 120_000 } = options;
  if (settings.kind === 'memory') return new MemoryStore({ now });
  const parts = { cipher: createCipher(options.secretKey, options.oldSecretKey), log, now };
  if (settings.kind === 'postgres') {
    const { openPostgresStore } = await import('./sql/sql-store.js');
    return openPostgresStore(settings, { ...parts, waitMs });
  }
  const { startSqliteThread } = await import('./sql/sqlite/sqlite-thread.js');
  const thread = startSqliteThread(settings.file, log); // it loads its driver in parallel with Kysely
  const { openSqliteStore } = await import('./sql/sql-store.js');
  return openSqliteStore(thread, parts);
}
