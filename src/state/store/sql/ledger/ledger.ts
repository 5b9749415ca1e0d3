import type { Kysely } from 'kysely';
import type { Ledger } from '../../../ledger/contract.js';
import type { Logger } from '../../../../plugin/index.js';
import { appendInOneMessage, appendWith, withOptionalTexts } from './append.js';
import { readRow } from '../../../ledger/columns.js';
import { sqlLatency } from './latency.js';
import { Pruning } from './pruning.js';
import { sqlRequests, sqlRowsOf } from './requests.js';
import type { Tables } from '../tables/tables.js';
import { sqlUsage } from './sql-usage.js';

/** Ledger with a table of rows and one of hourly sums, both updated by each append. */
export function sqlLedger(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres', log: Logger): Ledger {
  const max = maxBatchSize[dialect];
  const pruning = new Pruning();
  const appendAll = dialect === 'sqlite' ? appendInOneMessage(db) : appendWith(db);
  const append = withOptionalTexts(appendAll, log);
  return {
    append: async (rows) => (rows.length === 0 ? undefined : append(rows)),
    usage: (query) => sqlUsage(db, query, { partSize: max.summed, dialect }),
    latency: (query) => sqlLatency(db, query, { partSize: max.timed, dialect }),
    requests: (filter, page) => sqlRequests(db, filter, page, max.searched),
    async get({ atMs, id }) {
      const record = await db
        .selectFrom('ledger')
        .selectAll()
        .where('at', '=', atMs)
        .where('id', '=', id)
        .executeTakeFirst();
      return record && readRow(record);
    },
    find: (rows) => sqlRowsOf(db, rows),
    prune: (beforeMs, limit) => pruning.run(db, beforeMs, limit),
  };
}

/**
 * Rows per part. Between parts SQLite's one thread serves writes; with PostgreSQL the round trips cost most.
 */
const maxBatchSize = {
  sqlite: { summed: 2000, searched: 500, timed: { counts: 8000, rows: 2000 } },
  postgres: { summed: 100_000, searched: 5000, timed: { counts: 100_000, rows: 20_000 } },
} as const;
