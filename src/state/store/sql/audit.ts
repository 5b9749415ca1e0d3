import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { AuditActor, AuditEntry, AuditFilter, AuditLog } from '../contract/audit.js';
import type { Json } from '../../../plugin/index.js';
import { readCursor, writeCursor } from '../page-cursor.js';
import type { AuditRecord } from './audit-records.js';
import type { Tables } from './tables/tables.js';
import { stepResult } from '../../step-result.js';

/** The audit log in a table, whose trigger refuses changes of rows. */
export function sqlAuditLog(db: Kysely<Tables>): AuditLog {
  return {
    async append(entries) {
      if (entries.length === 0) return;
      await db
        .insertInto('audit')
        .values(entries.map(toRecord))
        .onConflict((conflict) => conflict.columns(['at', 'id']).doNothing())
        .execute();
    },
    async page(filter, { cursor, limit }) {
      const size = Math.min(limit, 1000);
      const { rows } = await sql<AuditRecord>`
        select * from audit where ${allOf(conditions(filter, cursor))}
        order by at desc, id desc limit ${sql.lit(size + 1)}
      `.execute(db);
      const entries = rows.slice(0, size).map(fromRecord);
      const last = entries.at(-1);
      return { entries, ...(rows.length > size && last && { cursor: writeCursor(last) }) };
    },
    async prune(beforeMs, limit) {
      const { numAffectedRows = 0n } = await sql`
        delete from audit where (at, id) in
          (select at, id from audit where at < ${beforeMs} order by at, id limit ${limit})
      `.execute(db);
      return stepResult(numAffectedRows, limit);
    },
  };
}

type Condition = RawBuilder<boolean>;

function conditions(filter: AuditFilter, cursor: string | undefined): readonly Condition[] {
  const { actor, action, target, outcome, fromMs, toMs } = filter;
  const after = cursor === undefined ? undefined : readCursor(cursor);
  return [
    ...(actor === undefined ? [] : [sql<boolean>`actor_name = ${actor}`]),
    ...(action === undefined ? [] : [ofAction(action)]),
    ...(target === undefined ? [] : [sql<boolean>`target = ${target}`]),
    ...(outcome === undefined ? [] : [sql<boolean>`outcome = ${outcome}`]),
    ...(fromMs === undefined ? [] : [sql<boolean>`at >= ${fromMs}`]),
    ...(toMs === undefined ? [] : [sql<boolean>`at < ${toMs}`]),
    ...(after ? [sql<boolean>`(at, id) < (${after.atMs}, ${after.id})`] : []),
  ];
}

/** Condition for an action, or for those of a subject: the range from `key.` to before `key/`, the next character. */
function ofAction(action: string): Condition {
  if (!action.endsWith('.*')) return sql<boolean>`action = ${action}`;
  const subject = action.slice(0, -2);
  return sql<boolean>`action >= ${`${subject}.`} and action < ${`${subject}/`}`;
}

function allOf(conditions: readonly Condition[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

function toRecord(entry: AuditEntry): AuditRecord {
  return {
    at: entry.atMs,
    id: entry.id,
    actor_kind: entry.actor.kind,
    actor_name: entry.actor.name,
    action: entry.action,
    target: entry.target ?? null,
    outcome: entry.outcome,
    code: entry.code ?? null,
    before: textOf(entry.before),
    after: textOf(entry.after),
    address: entry.address ?? null,
    request_id: entry.requestId ?? null,
  };
}

function textOf(value: Json | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function fromRecord(record: AuditRecord): AuditEntry {
  const { before, after } = record;
  return {
    atMs: record.at,
    id: record.id,
    // Written from these types by `toRecord`.
    actor: { kind: record.actor_kind as AuditActor['kind'], name: record.actor_name },
    action: record.action,
    ...(record.target !== null && { target: record.target }),
    outcome: record.outcome as AuditEntry['outcome'],
    ...(record.code !== null && { code: record.code }),
    ...(before !== null && { before: JSON.parse(before) as Json }),
    ...(after !== null && { after: JSON.parse(after) as Json }),
    ...(record.address !== null && { address: record.address }),
    ...(record.request_id !== null && { requestId: record.request_id }),
  };
}
