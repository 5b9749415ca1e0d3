import { setImmediate as breath } from 'node:timers/promises';
import type { Expression, Kysely, RawBuilder } from 'kysely';
import type { UsageQuery, UsageSum } from '../../plugin/internal.js';
import { bucketsOf, groupColumnOf, addSums } from '../../ledger/usage.js';
import { fromTokenRecord } from './ledger-record.js';
import { sumColumns, type SumKind, type SumRecord, type Tables } from './tables.js';
import { sql } from './kysely.js';

/**
 * Sums by bucket and group, from the hourly table if it fits the buckets, else from the rows. About
 * `partSize` rows at a time.
 */
export async function sqlUsage(
  db: Kysely<Tables>,
  query: UsageQuery,
  { partSize, dialect }: UsageReading,
): Promise<readonly UsageSum[]> {
  const { fromMs, toMs, stepMs, isHourly } = bucketsOf(query);
  const source = isHourly && hasHours(query) ? hourSource(query) : rowSource(query, dialect);
  const open = new Map<string, UsageSum>();
  const complete: UsageSum[] = [];
  const { limit = Infinity } = query;
  for (let startMs = fromMs; startMs < toMs && complete.length < limit;) {
    const endMs = await endOfPart(db, source, { fromMs: startMs, toMs, partSize });
    for (const sum of await sumsIn(db, source, { fromMs, startMs, endMs, stepMs })) add(open, sum);
    const openFromMs = endMs < toMs ? endMs - ((endMs - fromMs) % stepMs) : Infinity;
    complete.push(...takeBefore(openFromMs, open));
    startMs = endMs;
    if (startMs < toMs) await breath();
  }
  return complete.slice(0, query.limit);
}

interface UsageReading {
  /** Max rows read at a time. */
  readonly partSize: number;
  readonly dialect: 'sqlite' | 'postgres';
}

/** Takes the sums of earlier buckets out of those that a further part may add to, in their order. */
function takeBefore(openFromMs: number, open: Map<string, UsageSum>): readonly UsageSum[] {
  const taken = [...open].filter(([, { atMs }]) => atMs < openFromMs);
  for (const [key] of taken) open.delete(key);
  return taken.map(([, sum]) => sum).toSorted((a, b) => a.atMs - b.atMs || (a.group < b.group ? -1 : 1));
}

/** Table and columns to sum, with their filter and group. */
interface Source {
  readonly table: RawBuilder<unknown>;
  readonly where: RawBuilder<unknown>;
  readonly group: RawBuilder<string>;
  readonly sums: RawBuilder<unknown>;
}

/** Hours know one group at a time: a key that is divided further is counted from its rows. */
function hasHours({ by, keyId }: UsageQuery): boolean {
  return keyId === undefined || by === null || by === 'key';
}

function hourSource(query: UsageQuery): Source {
  const { by, keyId } = query;
  return {
    table: sql.table('ledger_sums'),
    where: keyId === undefined ? sql`kind = ${kindOf(query)}` : sql`kind = 'key' and name = ${keyId}`,
    group: by === null ? sql`''` : sql`name`,
    sums: sql.join(sumColumns.map((column) => sql`sum(${sql.ref(column)}) as ${sql.ref(column)}`)),
  };
}

/** All formats together are all requests. */
function kindOf({ by, tag }: UsageQuery): SumKind {
  return by === 'tag' && tag !== undefined ? `tag:${tag}` : (by ?? 'format');
}

function rowSource(query: UsageQuery, dialect: UsageReading['dialect']): Source {
  const { by, keyId } = query;
  const ofKey = keyId === undefined ? sql`true` : sql`key_id = ${keyId}`;
  const sums = sql.join(sumColumns.map((column) => sql`sum(${ofRow(column)}) as ${sql.ref(column)}`));
  if (by === 'tag') return { ...tagSource(query, dialect, ofKey), sums };
  const group = by === null ? sql<string>`''` : sql<string>`${sql.ref(groupColumnOf[by])}`;
  return { table: sql.table('ledger'), where: ofKey, group, sums };
}

/** One row for each tag of each request. */
function tagSource({ tag }: UsageQuery, dialect: UsageReading['dialect'], ofKey: RawBuilder<unknown>) {
  const each = dialect === 'sqlite' ? sql`json_each(ledger.tags)` : sql`json_each_text(ledger.tags::json)`;
  return {
    table: sql`ledger, ${each} as tag`,
    where: tag === undefined ? ofKey : sql`${ofKey} and tag.key = ${tag}`,
    group: tag === undefined ? sql<string>`tag.key` : sql<string>`tag.value`,
  };
}

interface Rest {
  readonly fromMs: number;
  readonly toMs: number;
  readonly partSize: number;
}

/** End of the next part of a span, by its max number of rows; at least one millisecond later. */
async function endOfPart(
  db: Kysely<Tables>,
  { table, where }: Source,
  { fromMs, toMs, partSize }: Rest,
): Promise<number> {
  const { rows } = await sql<{ readonly at: number }>`
    select at from ${table} where ${where} and at >= ${fromMs} and at < ${toMs}
    order by at limit 1 offset ${sql.lit(partSize)}
  `.execute(db);
  return Math.max(fromMs + 1, rows[0]?.at ?? toMs);
}

interface Part {
  /** Start of the first bucket. */
  readonly fromMs: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

async function sumsIn(
  db: Kysely<Tables>,
  { table, where, group, sums }: Source,
  { fromMs, startMs, endMs, stepMs }: Part,
): Promise<readonly UsageSum[]> {
  // Literals: SQLite takes a bound number for a real one, whose division does not truncate.
  const bucket = sql<number>`${sql.lit(fromMs)} + ((at - ${sql.lit(fromMs)}) / ${sql.lit(stepMs)}) * ${sql.lit(stepMs)}`;
  const { rows } = await sql<SumRecord & { readonly bucket: number; readonly grouped: string }>`
    select ${bucket} as bucket, ${group} as grouped, ${sums} from ${table}
    where ${where} and at >= ${startMs} and at < ${endMs} group by 1, 2
  `.execute(db);
  return rows.map(toSum);
}

/** A bucket may be cut by the parts. */
function add(sums: Map<string, UsageSum>, sum: UsageSum): void {
  const key = `${sum.atMs} ${sum.group}`;
  const known = sums.get(key);
  sums.set(key, known ? addSums(known, sum) : sum);
}

/** Contribution of one row to a sum. */
function ofRow(column: keyof SumRecord): Expression<number> {
  return fromRow[column] ?? sql.ref<number>(column);
}

const fromRow: Partial<Record<keyof SumRecord, RawBuilder<number>>> = {
  requests: sql`1`,
  errors: sql`failed`,
  first_events: sql`case when first_event_ms is null then 0 else 1 end`,
  first_event_ms_sum: sql`coalesce(first_event_ms, 0)`,
  duration_ms_sum: sql`duration_ms`,
};

function toSum(record: SumRecord & { readonly bucket: number; readonly grouped: string }): UsageSum {
  return {
    atMs: record.bucket,
    group: record.grouped,
    requests: record.requests,
    errors: record.errors,
    ...fromTokenRecord(record),
    firstEvents: record.first_events,
    firstEventMsSum: record.first_event_ms_sum,
    durationMsSum: record.duration_ms_sum,
  };
}
