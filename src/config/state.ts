import path from 'node:path';
import { addressErrors } from './addresses.js';
import type { Config } from './config.js';
import type { SchemaError } from '../plugin/internal.js';
import type { RawConfig } from './schema.js';

/**
 * Kind and address of the store: `memory`, `sqlite:PATH` or `postgres://…`. A relative path starts at the
 * working directory, as `.env` does: the folder of a config may be read-only, or replaced by an update of the
 * package.
 */
export function toStore(text: string): Config['store'] {
  if (text === 'memory') return { kind: 'memory' };
  const file = sqliteFile(text);
  return file === undefined ? { kind: 'postgres', url: text } : { kind: 'sqlite', file: path.resolve(file) };
}

/**
 * Settings of `ledger:`. Default spool folder: that of the SQLite file, else `data` in the working directory.
 */
export function toLedger({ store, ledger }: Pick<RawConfig, 'store' | 'ledger'>): Config['ledger'] {
  const file = sqliteFile(store);
  const folder = ledger.spool ?? (file === undefined ? 'data' : path.dirname(file));
  const { keepDays, cacheCauses, errorTexts } = ledger;
  const spool = store === 'memory' ? undefined : path.resolve(folder);
  return { keepDays, cacheCauses, errorTexts, spool };
}

/** Rules for the address of the store; messages do not repeat it, because it may hold a password. */
export function storeErrors(text: string): readonly SchemaError[] {
  const faults = addressErrors(['store'], sqliteFile(text) === undefined ? text : '');
  if (faults.length > 0) return faults;
  const isPostgres = /^postgres(ql)?:\/\//.test(text) && URL.canParse(text);
  if (text === 'memory' || sqliteFile(text) || isPostgres) return [];
  const message =
    'must be "sqlite:PATH" (such as sqlite:./data/gateway.db), "postgres://USER@HOST/DATABASE" or "memory"';
  return [{ path: ['store'], message }];
}

function sqliteFile(text: string): string | undefined {
  return /^sqlite:(?:\/\/)?(.+)$/.exec(text)?.[1];
}
