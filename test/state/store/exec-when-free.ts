import type { Database } from '#src/state/store/sql/sqlite/database.js';
import { eventually } from '../../eventually.js';

/**
 * Runs a statement as soon as no other connection writes. Asks again instead of waiting in SQLite: a store in this process
 * may need the event loop to end its transaction.
 */
export async function execWhenFree(database: Database, statement: string): Promise<void> {
  const isDone = (): boolean => {
    try {
      database.exec(statement);
      return true;
    } catch (error) {
      if (String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')) return false; // an error of SQLite has a code
      throw error;
    }
  };
  await eventually(isDone, 30_000);
}
