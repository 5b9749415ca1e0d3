import type { Database, DatabaseOptions } from './database.js';
import { openByLibsql } from './libsql.js';
import { openByNode } from './node.js';

/**
 * Opens a SQLite file by the library of this process: two libraries in one process do not see each other's locks.
 * Throws a SqliteError.
 */
export const openDatabase: (file: string, options?: DatabaseOptions) => Database = hasStableSqlite(
  process.versions.node,
)
  ? openByNode
  : openByLibsql;

/** True for versions whose `node:sqlite` is no longer experimental: 24.15, 25.7 and later. */
export function hasStableSqlite(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 25 || (major === 25 && minor >= 7) || (major === 24 && minor >= 15);
}
