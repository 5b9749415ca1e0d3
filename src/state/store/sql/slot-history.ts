import { sql, type Kysely } from 'kysely';
import {
  maxSlotChanges,
  type SlotChange,
  type SlotHistory,
  type WindowSample,
} from '../contract/slot-history.js';
import { isNewChange } from '../slot-changes.js';
import type { SlotChangeRecord, WindowSampleRecord } from './slot-history-records.js';
import type { Tables } from './tables/tables.js';
import { stepResult } from '../../step-result.js';

/** History of slots in two tables. */
export function sqlSlotHistory(db: Kysely<Tables>): SlotHistory {
  return {
    async append(changes) {
      if (changes.length === 0) return;
      await db.transaction().execute(async (transaction) => {
        const slots = new Set(changes.map(({ slot }) => slot));
        const added = newChanges(await lastOf(transaction, slots), changes);
        for (let at = 0; at < added.length; at += maxRows)
          await insert(transaction, added.slice(at, at + maxRows));
        for (const slot of slots) await trim(transaction, slot);
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
      const steps = [changes, samples].map(({ numAffectedRows = 0n }) => stepResult(numAffectedRows, limit));
      return { isDone: steps.every(({ isDone }) => isDone) };
    },
  };
}

function changesOf(db: Kysely<Tables>, slot: string) {
  return db.selectFrom('slot_changes').selectAll().where('slot', '=', slot).orderBy('at', 'desc');
}

/** Last changes of slots, by their ids. */
async function lastOf(
  db: Kysely<Tables>,
  slots: ReadonlySet<string>,
): Promise<ReadonlyMap<string, SlotChange>> {
  const last = new Map<string, SlotChange>();
  for (const slot of slots) {
    const record = await changesOf(db, slot).limit(1).executeTakeFirst();
    if (record) last.set(slot, fromRecord(record));
  }
  return last;
}

/** New changes, each compared with the one before it; `last`: the existing ones. */
function newChanges(
  last: ReadonlyMap<string, SlotChange>,
  changes: readonly SlotChange[],
): readonly SlotChange[] {
  const known = new Map(last);
  return changes.filter((change) => {
    const isNew = isNewChange(known.get(change.slot), change);
    if (isNew) known.set(change.slot, change);
    return isNew;
  });
}

/** Rows of one statement: databases limit its parameters. */
const maxRows = 500;

async function insert(db: Kysely<Tables>, changes: readonly SlotChange[]): Promise<void> {
  await db
    .insertInto('slot_changes')
    .values(changes.map(toRecord))
    .onConflict((conflict) => conflict.columns(['slot', 'at']).doNothing())
    .execute();
}

/** Deletes the changes of a slot beyond the limit. */
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
