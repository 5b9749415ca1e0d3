import type { Kysely } from 'kysely';
import type { Team } from '../../../plugin/core.js';
import type { Store, TeamPatch } from '../contract/store.js';
import { applyPatch, byName } from '../key-rules.js';
import { keepDeletedName, namesIn } from './deleted-names.js';
import { fromLimitRecord, toLimitRecord } from './limits.js';
import type { TeamRecord, Tables } from './tables/tables.js';
import { writeChanges } from './sqlite/write-changes.js';

/** Teams in a table. */
export function sqlTeams(db: Kysely<Tables>, now: () => number): Store['teams'] {
  return {
    async list() {
      const records = await db.selectFrom('teams').selectAll().execute();
      return records.map(fromRecord).toSorted(byName);
    },
    async get(id) {
      const record = await db.selectFrom('teams').selectAll().where('id', '=', id).executeTakeFirst();
      return record && fromRecord(record);
    },
    async put(team) {
      const { id: _, ...rest } = toRecord(team);
      await db
        .insertInto('teams')
        .values(toRecord(team))
        .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
        .execute();
    },
    update: (id, patch) => db.transaction().execute((transaction) => update(transaction, id, patch)),
    async ofOtherPipelines(pipelines, limit) {
      const records = await db
        .selectFrom('teams')
        .selectAll()
        .where('pipeline', 'is not', null)
        .where('pipeline', 'not in', pipelines)
        .execute();
      return records.map(fromRecord).toSorted(byName).slice(0, limit);
    },
    delete: (id) => db.transaction().execute((transaction) => remove(transaction, id, now())),
    names: () => namesIn(db, 'teams'),
  };
}

async function update(db: Kysely<Tables>, id: string, patch: TeamPatch): Promise<Team | undefined> {
  const before = await db.selectFrom('teams').selectAll().where('id', '=', id).executeTakeFirst();
  if (!before) return undefined;
  const after = applyPatch(fromRecord(before), patch);
  await writeChanges(db, 'teams', before, toRecord(after));
  return after;
}

async function remove(db: Kysely<Tables>, id: string, nowMs: number): Promise<boolean> {
  const team = await db.selectFrom('teams').select('name').where('id', '=', id).executeTakeFirst();
  const key = await db.selectFrom('keys').select('id').where('team', '=', id).limit(1).executeTakeFirst();
  if (!team || key) return false;
  await db.deleteFrom('teams').where('id', '=', id).execute();
  await keepDeletedName(db, { id, name: team.name, nowMs });
  return true;
}

function toRecord(team: Team): TeamRecord {
  return {
    id: team.id,
    name: team.name,
    created_at: team.createdAtMs,
    ...toLimitRecord(team),
    pipeline: team.pipeline ?? null,
    note: team.note ?? null,
  };
}

function fromRecord(record: TeamRecord): Team {
  return {
    id: record.id,
    name: record.name,
    createdAtMs: record.created_at,
    ...fromLimitRecord(record),
    ...(record.pipeline !== null && { pipeline: record.pipeline }),
    ...(record.note !== null && { note: record.note }),
  };
}
