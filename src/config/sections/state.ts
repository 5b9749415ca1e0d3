import path from 'node:path';
import { addressErrors } from '../addresses.js';
import type { Config } from '../config.js';
import type { SchemaError } from '../../plugin/upstream/index.js';
import type { RawConfig } from '../schema.js';
import { toPostgresAddress } from '../../state/store/sql/postgres/address.js';

type RawStore = RawConfig['store'];

/**
 * Kind and address of the store: `memory`, `sqlite:PATH` or `postgres://…`. A relative path starts at the
 * working directory, as `.env` does: the folder of a config may be read-only, or replaced by an update of the
 * package.
 */
export function toStore(store: RawStore): Config['store'] {
  const { url, pool } = storeFields(store);
  if (url === 'memory') return { kind: 'memory' };
  const file = sqliteFile(url);
  if (file !== undefined) return { kind: 'sqlite', file: path.resolve(file) };
  return { kind: 'postgres', url, ...(pool !== undefined && { pool }) };
}

/** Fields of `store:`, which may be its address alone. */
export function storeFields(store: RawStore): Exclude<RawStore, string> {
  return typeof store === 'string' ? { url: store } : store;
}

/**
 * Settings of `ledger:`. Default spool folder: that of the SQLite file, else `data` in the working directory.
 */
export function toLedger({ store, ledger }: Pick<RawConfig, 'store' | 'ledger'>): Config['ledger'] {
  const { url } = storeFields(store);
  const file = sqliteFile(url);
  const folder = ledger.spool ?? (file === undefined ? 'data' : path.dirname(file));
  const { keepDays, cacheCauses, errorTexts } = ledger;
  const spool = url === 'memory' ? undefined : path.resolve(folder);
  return { keepDays, cacheCauses, errorTexts, spool };
}

/** Rules for the address of the store; messages do not repeat it, because it may hold a password. */
export function storeErrors(store: RawStore): readonly SchemaError[] {
  const at = typeof store === 'string' ? ['store'] : ['store', 'url'];
  const { url } = storeFields(store);
  if (/^postgres(ql)?:\/\//.test(url)) {
    const faults = addressErrors(at, url);
    return faults.length > 0 ? faults : messagesOf(at, () => toPostgresAddress(url));
  }
  if (url === 'memory' || sqliteFile(url)) return [];
  const message =
    'must be "sqlite:PATH" (such as sqlite:./data/gateway.db), "postgres://USER@HOST/DATABASE" or "memory"';
  return [{ path: at, message }];
}

function sqliteFile(text: string): string | undefined {
  return /^sqlite:(?:\/\/)?(.+)$/.exec(text)?.[1];
}

/** The message that `read` throws, as an error; readers of addresses throw nothing else. */
function messagesOf(at: SchemaError['path'], read: () => unknown): readonly SchemaError[] {
  try {
    read();
    return [];
  } catch (error) {
    return [{ path: at, message: (error as Error).message }];
  }
}
