import { defaultPipeline } from '../../plugin/core.js';
import { Type } from '../../plugin/index.js';
import { cacheLoss, cost, tokens } from './row/composed-fields.js';
import {
  flag,
  integer,
  maybeJson,
  maybeMs,
  maybeName,
  maybeText,
  maybeTrue,
  ms,
  text,
  textOr,
  type Field,
  type FieldUses,
} from './row/fields.js';
import { additionsJson, tagsJson, traceJson } from './row/ledger-json.js';
import type { LedgerAdditions, LedgerTrace } from './row/row-values.js';

/** A request as the ledger keeps it: never a body, never a secret. Migrations make the columns, by hand. */
export const columns = {
  /** Appending a row again (a retry) does not count it twice. */
  id: text('id', 'Unique id of the request.'),
  atMs: integer('at', 'Arrival time, unix milliseconds.'),
  /** Not unique: callers may send one twice. */
  requestId: { ...text('request_id', 'Request id, as in X-Request-ID.'), filter: {} },
  keyId: { ...maybeName('key_id', 'Id of the key.'), filter: {}, group: 'key' },
  team: { ...maybeName('team', "Id of the key's team."), filter: { only: "team <> ''" }, group: 'team' },
  session: {
    ...maybeText('session', 'Pseudonym of the session, which does not reveal its name.'),
    filter: {},
  },
  slot: { ...maybeName('slot', 'Slot of the answer, or of the last call.'), filter: {}, group: 'slot' },
  model: {
    ...maybeName('model', 'The model that answered; without an answer the one that was asked for.'),
    filter: {},
    group: 'model',
  },
  /** Absent if it is the same as `model`. */
  askedModel: maybeText('asked_model', 'The model that the caller asked for.'),
  format: { ...text('format', "The caller's wire format."), filter: {}, group: 'format' },
  pipeline: {
    ...textOr(defaultPipeline, 'pipeline', 'Pipeline of the request; `default` if none was chosen.'),
    filter: { only: `pipeline <> '${defaultPipeline}'`, common: defaultPipeline },
    group: 'pipeline',
    rest: defaultPipeline,
  },
  /** Time and id of a row: `1767225600000.0197…`. */
  parent: {
    ...maybeText('parent', 'Id of the request that a stage made this call for, as `/requests/:id` takes it.'),
    filter: { only: 'parent is not null' },
  },
  label: {
    ...maybeName('label', 'Purpose of a call that a stage made itself; none for a request of a caller.'),
    filter: { only: "label <> ''" },
    group: 'label',
    rest: '',
  },
  status: {
    ...integer('status', 'HTTP status; 499 if the caller disconnected before there was one.'),
    filter: { only: 'status <> 200', common: 200 },
  },
  code: { ...maybeText('code', 'Code of the error.'), filter: {} },
  failed: {
    ...flag('failed', 'True if the caller got no complete answer, unless it disconnected itself.'),
    filter: { common: false },
  },
  streamed: flag('streamed', 'True for a streamed answer.'),
  attempts: integer('attempts', 'Number of upstream calls.'),
  /** Measured from the first byte of the request. */
  firstEventMs: maybeMs('first_event_ms', 'Time to the first event of the answer.'),
  /** Measured from the first byte of the request. */
  firstTokenMs: maybeMs('first_token_ms', 'Time to the first content of the answer, thinking included.'),
  durationMs: ms('duration_ms', 'Time of the whole request.'),
  /** Sum over all upstream calls of the request. */
  queueMs: maybeMs('queue_ms', 'Time spent waiting for a place in a slot.'),
  outputMs: maybeMs('output_ms', 'From the first to the last event of the answer.'),
  billed: tokens('', 'Tokens as billed by the upstream.'),
  shown: tokens('shown_', 'Tokens as shown to the caller.'),
  estimated: maybeTrue(
    'estimated',
    'True if tokens are estimated: their upstream reported none, or its answer was cut off.',
  ),
  cost: cost('Cost of these tokens in nano-USD; absent: unknown.'),
  tags: maybeJson(
    'tags',
    Type.Record(Type.String(), Type.String(), { description: 'Usage tags that stages have set.' }),
    tagsJson,
  ),
  cache: {
    ...cacheLoss('Loss of cached tokens; absent: none is known.'),
    filter: { member: { name: 'cause', column: 'cache_cause' } },
  },
  additions: maybeJson(
    'additions',
    Type.Unsafe<LedgerAdditions>({ description: 'Tokens that stages added, by the name of the stage.' }),
    additionsJson,
  ),
  trace: maybeJson(
    'trace',
    Type.Unsafe<LedgerTrace>({ description: 'Stages and upstream calls; left out in lists.' }),
    traceJson,
  ),
} as const satisfies Readonly<Record<string, Field & FieldUses>>;

export type Columns = typeof columns;
export type ColumnName = keyof Columns;

type ValueOf<Name extends ColumnName> = ReturnType<Columns[Name]['read']>;
type MaybeName = { [Name in ColumnName]: undefined extends ValueOf<Name> ? Name : never }[ColumnName];

/** One request of the ledger. */
export type LedgerRow = Flat<
  { readonly [Name in Exclude<ColumnName, MaybeName>]: ValueOf<Name> } & {
    readonly [Name in MaybeName]?: Exclude<ValueOf<Name>, undefined>;
  }
>;

type StoredIn<Names extends ColumnName> = Flat<Intersection<Parameters<Columns[Names]['read']>[0]>>;
type Flat<Type> = { readonly [Key in keyof Type]: Type[Key] };
type Intersection<Union> = (Union extends unknown ? (of: Union) => void : never) extends (
  of: infer All,
) => void
  ? All
  : never;

/** Record of a row in a database. Times are unix milliseconds, truth is 0 or 1, absent texts of groups are ''. */
export type LedgerRecord = StoredIn<ColumnName>;

/** Record of a row in a list: without its trace. */
export type ListedRecord = StoredIn<Exclude<ColumnName, 'trace'>>;

/** Fields by their name, in the order of the table. */
export const fields = Object.entries(columns) as readonly (readonly [ColumnName, Field & FieldUses])[];

/** Columns of a listed row. */
export const listedColumns = fields.flatMap(([name, field]) => (name === 'trace' ? [] : field.columns));

/** Columns in the order of `writeRow`. */
export const writtenColumns = fields.flatMap(([, field]) => field.columns);

const writers = fields.map(([name, { write }]) => ({ name, write }));

/** Adds a row's values for `writtenColumns`, in their order. */
export function writeRow(row: LedgerRow, values: unknown[]): void {
  for (const { name, write } of writers) write(row[name], values);
}

/** Accepts a record without its trace, too. */
export function readRow(stored: ListedRecord & { readonly trace?: string | null }): LedgerRow {
  const row: Partial<Record<ColumnName, unknown>> = {};
  for (const [name, field] of fields) {
    const value = field.read(stored);
    if (value !== undefined) row[name] = value;
  }
  return row as LedgerRow; // as the fields read it
}
