import type { Kysely } from 'kysely';
import {
  maxSlotChanges,
  type SlotChange,
  type SlotHistory,
  type WindowSample,
} from '../../plugin/internal.js';
import { isSameState } from '../slot-changes.js';
import { sql } from './kysely.js';
import type { SlotChangeRecord, WindowSampleRecord } from './slot-history-records.js';
import type { Tables } from './tables.js';

/** History of slots in two tables. */
export function sqlSlotHistory(db: Kysely<Tables>): SlotHistory {
  return {
    async append(changes) {
      if (changes.length === 0) return;
      await db.transaction().execute(async (transaction) => {
        for (const change of changes) await append(transaction, change);
        for (const slot of new Set(changes.map((change) => change.slot))) await trim(transaction, slot);
      });
    },
    async changes(slot, limit) {
      const records = await changesOf(db, slot).limit(limit).execute();
      return records.map(fromRecord);
    },
    async sample(samples) {
      if (samples.length === 0) return;
      await db
        .insertInto('window_samples')
        .values(samples.map(toSampleRecord))
        .onConflict((conflict) => conflict.columns(['slot', 'kind', 'at']).doNothing())
        .execute();
    },
    async samples(fromMs) {
      const records = await db
        .selectFrom('window_samples')
        .selectAll()
        .where('at', '>=', fromMs)
        .orderBy('at')
        .execute();
      return records.map(fromSampleRecord);
    },
    async prune(beforeMs, limit) {
      const changes = await sql`
        delete from slot_changes where (slot, at) in
          (select slot, at from slot_changes where at < ${beforeMs} order by at limit ${limit})
      `.execute(db);
      const samples = await sql`
        delete from window_samples where (slot, kind, at) in
          (select slot, kind, at from window_samples where at < ${beforeMs} order by at limit ${limit})
      `.execute(db);
      return Math.max(Number(changes.numAffectedRows ?? 0n), Number(samples.numAffectedRows ?? 0n));
    },
  };
}

function changesOf(db: Kysely<Tables>, slot: string) {
  return db.selectFrom('slot_changes').selectAll().where('slot', '=', slot).orderBy('at', 'desc');
}

async function append(db: Kysely<Tables>, change: SlotChange): Promise<void> {
  const last = await changesOf(db, change.slot).limit(1).executeTakeFirst();
  if (last && (isSameState(fromRecord(last), change) || last.at >= change.atMs)) return;
  await db
    .insertInto('slot_changes')
    .values(toRecord(change))
    .onConflict((conflict) => conflict.columns(['slot', 'at']).doNothing())
    .execute();
}

/** Deletes the changes of a slot that are too many. */
async function trim(db: Kysely<Tables>, slot: string): Promise<void> {
  await sql`
    delete from slot_changes where slot = ${slot} and at <=
      (select at from slot_changes where slot = ${slot} order by at desc limit 1 offset ${sql.lit(maxSlotChanges)})
  `.execute(db);
}

function toRecord(change: SlotChange): SlotChangeRecord {
  return {
    slot: change.slot,
    at: change.atMs,
    state: change.state,
    reason: change.reason ?? null,
    until: change.untilMs ?? null,
    models: JSON.stringify(change.models),
    status: change.status ?? null,
    code: change.code ?? null,
    message: change.message ?? null,
  };
}

function fromRecord(record: SlotChangeRecord): SlotChange {
  return {
    slot: record.slot,
    atMs: record.at,
    // Written from these types by `toRecord`.
    state: record.state as SlotChange['state'],
    ...(record.reason !== null && { reason: record.reason }),
    ...(record.until !== null && { untilMs: record.until }),
    models: JSON.parse(record.models) as readonly string[],
    ...(record.status !== null && { status: record.status }),
    ...(record.code !== null && { code: record.code }),
    ...(record.message !== null && { message: record.message }),
  };
}

function toSampleRecord({ slot, window, atMs, percentUsed, resetsAtMs }: WindowSample): WindowSampleRecord {
  return { slot, kind: window, at: atMs, percent: percentUsed, resets_at: resetsAtMs };
}

function fromSampleRecord(record: WindowSampleRecord): WindowSample {
  return {
    slot: record.slot,
    window: record.kind as WindowSample['window'], // written by `toSampleRecord`
    atMs: record.at,
    percentUsed: record.percent,
    resetsAtMs: record.resets_at,
  };
}
