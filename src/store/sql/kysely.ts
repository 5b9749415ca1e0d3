import { createRequire } from 'node:module';
import type * as Whole from 'kysely';

/**
 * Kysely by its CommonJS build: to load its 262 files as ES modules costs 180 ms of CPU and 19 MB, so 90 ms and 13 MB.
 * Everyone takes values from here, for the two builds are two Kyselys.
 */
export const {
  CompiledQuery,
  Kysely,
  PostgresDialect,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} = createRequire(import.meta.url)('kysely') as typeof Whole; // the same by another way

export type CompiledQuery<Result = unknown> = Whole.CompiledQuery<Result>;
export type Kysely<Database> = Whole.Kysely<Database>;
