import path from 'node:path';
import type { Config } from './config.js';
import type { Fault } from './document.js';
import type { RawConfig } from './schema.js';

/**
 * Where state is kept: `memory`, `sqlite:PATH` or `postgres://…`. A relative path starts at the working directory, where
 * `.env` is too: the folder of a config may be read-only, or part of a package that the next update replaces.
 */
export function toStore(text: string): Config['store'] {
  if (text === 'memory') return { kind: 'memory' };
  const file = sqliteFile(text);
  return file === undefined ? { kind: 'postgres', url: text } : { kind: 'sqlite', file: path.resolve(file) };
}

/** `ledger:`; its rows wait beside the SQLite file where nothing is said, else in `data` of the working directory. */
export function toLedger({ store, ledger }: Pick<RawConfig, 'store' | 'ledger'>): Config['ledger'] {
  const file = sqliteFile(store);
  const folder = ledger.spool ?? (file === undefined ? 'data' : path.dirname(file));
  return { keepDays: ledger.keepDays, spool: store === 'memory' ? undefined : path.resolve(folder) };
}

/** The address of a database may hold a password, so the message does not repeat it. */
export function storeFaults(text: string): readonly Fault[] {
  const isPostgres = /^postgres(ql)?:\/\//.test(text) && URL.canParse(text);
  if (text === 'memory' || sqliteFile(text) || isPostgres) return [];
  const message =
    'must be "sqlite:PATH" (such as sqlite:./data/gateway.db), "postgres://USER@HOST/DATABASE" or "memory"';
  return [{ path: ['store'], message }];
}

function sqliteFile(text: string): string | undefined {
  return /^sqlite:(?:\/\/)?(.+)$/.exec(text)?.[1];
}
