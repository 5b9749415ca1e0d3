import { sql, type Kysely } from 'kysely';
import { adminTokensTable, auditTable } from './audit-tables.js';
import { ledgerErrorsTable } from '../ledger/error-texts.js';
import { ledger, ledgerHours, ledgerSums, rareValues } from './first-ledger.js';
import {
  bindings,
  credentials,
  deletedKeys,
  keys,
  pluginValues,
  responses,
  sessions,
  slots,
  slotStates,
} from './first-tables.js';
import { formerSecrets } from '../ledger/former-secrets.js';
import { ledgerLatency } from '../ledger/latency-counts.js';
import { responseTotals } from './response-totals.js';
import { ledgerMoney, sumsWithMoney } from '../ledger/ledger-money.js';
import { ledgerPairs } from '../ledger/pairs/pair-tables.js';
import {
  callsOfStages,
  pipelinesOfKeys,
  pipelinesOfRequests,
  slotHistoryTables,
  teamsAndBudgets,
} from './later-tables.js';
import type { Tables } from './tables.js';

/** Migration: one step of the schema. A released one is never edited; a change is a new migration. */
export interface Migration {
  readonly name: string;
  up(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Promise<void>;
}

export const migrations: readonly Migration[] = [
  {
    name: '0001-first-tables',
    async up(db, dialect) {
      for (const table of [keys, credentials, slots, sessions, bindings, responses]) await table(db);
      await ledger(db, dialect);
      await ledgerHours(db);
    },
  },
  {
    name: '0002-ledger-trace',
    async up(db) {
      await db.schema.alterTable('ledger').addColumn('trace', 'text').execute();
    },
  },
  {
    name: '0003-sums-and-rare-values',
    async up(db, dialect) {
      await ledgerSums(db, dialect);
      await rareValues(db);
    },
  },
  { name: '0004-response-totals', up: responseTotals },
  { name: '0005-names-of-deleted-keys', up: deletedKeys },
  {
    name: '0006-slot-states',
    async up(db) {
      await slotStates(db);
      await db.schema.alterTable('keys').addColumn('max_concurrent', 'bigint').execute();
    },
  },
  {
    name: '0007-usage-tags',
    async up(db) {
      await db.schema.alterTable('ledger').addColumn('tags', 'text').execute();
    },
  },
  { name: '0008-plugin-values', up: pluginValues },
  {
    name: '0009-slots-of-keys',
    async up(db) {
      await db.schema.alterTable('keys').addColumn('slots', 'text').execute();
    },
  },
  { name: '0010-audit', up: auditTable },
  { name: '0011-admin-tokens', up: adminTokensTable },
  {
    name: '0012-people-of-sessions',
    async up(db) {
      for (const column of ['actor_kind', 'actor_name', 'role', 'address', 'user_agent'])
        await db.schema.alterTable('sessions').addColumn(column, 'text').execute();
      await db.schema.alterTable('sessions').addColumn('last_seen_at', 'bigint').execute();
    },
  },
  { name: '0013-ledger-money', up: ledgerMoney },
  { name: '0014-teams-and-budgets', up: teamsAndBudgets },
  { name: '0015-ledger-latency', up: ledgerLatency },
  { name: '0016-slot-history', up: slotHistoryTables },
  {
    name: '0017-subjects-of-sessions',
    async up(db) {
      for (const column of ['subject_issuer', 'subject_id'])
        await db.schema.alterTable('sessions').addColumn(column, 'text').execute();
    },
  },
  { name: '0018-ledger-errors', up: ledgerErrorsTable },
  { name: '0019-ledger-pairs', up: ledgerPairs },
  {
    name: '0020-slot-changes-without-messages',
    async up(db) {
      await db.schema.alterTable('slot_changes').addColumn('status', 'integer').execute();
      await db.schema.alterTable('slot_changes').dropColumn('message').execute();
    },
  },
  {
    name: '0021-estimated-tokens',
    async up(db) {
      await db.schema.alterTable('ledger').addColumn('estimated', 'integer').execute();
    },
  },
  { name: '0022-former-secrets-of-keys', up: formerSecrets },
  { name: '0023-asked-models', up: askedModels },
  {
    name: '0024-versions-of-migrations',
    up: async (db) =>
      void (await sql`create table migration_versions (name text primary key, version text not null)`.execute(
        db,
      )),
  },
  { name: '0025-pipelines-of-keys', up: pipelinesOfKeys },
  { name: '0026-pipelines-of-requests', up: pipelinesOfRequests },
  { name: '0027-calls-of-stages', up: callsOfStages },
];

/**
 * Adds the requested model of a row beside the one that answered. Earlier sums are by the requested model, and are used
 * for both groups.
 */
async function askedModels(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('ledger').addColumn('asked_model', 'text').execute();
  const sums = sql.join(sumsWithMoney.map((column) => sql.ref(column)));
  await sql`
    insert into ledger_sums (kind, at, name, ${sums})
    select 'asked_model', at, name, ${sums} from ledger_sums where kind = 'model'
  `.execute(db);
}
