import type { TNull, TSchema, TUnion } from 'typebox';
import { Type } from '../plugin/index.js';
import { columns, fields, type ColumnName, type Columns, type LedgerRow } from '../state/ledger/columns.js';
import { cacheCauses } from '../state/ledger/row/composed-fields.js';
import type { CacheLoss } from '../state/ledger/contract.js';
import { costReport, nanoUsd, tokensReport } from './ledger-report.js';
import { Cost, Count, IsoTime, Nullable, Tokens } from './schemas.js';

/** Name of a key by its id. */
export type NameOf = (keyId: string) => string;

/** Field of a row as reports show it. */
interface ShownField<Name extends string = string, Schema extends TSchema = TSchema> {
  readonly name: Name;
  readonly schema: Schema;
  of(this: void, row: LedgerRow, nameOf: NameOf): unknown;
}

const CacheReport = Type.Object(
  {
    cause: Type.Enum([...cacheCauses]),
    detail: Nullable(Type.String({ description: 'Place of the change, or the stage.' })),
    lost_tokens: Count,
    lost_usd: Nullable(Type.Number({ description: 'Null: unknown.' })),
  },
  { description: 'Tokens that an earlier turn had left in the prompt cache and that were paid again.' },
);

/** Fields that reports convert from the form of the ledger. */
const shownOtherwise = {
  id: shown(
    'id',
    Type.String({ description: 'What `/requests/:id` takes.' }),
    ({ atMs, id }) => `${atMs}.${id}`,
  ),
  atMs: shown('at', IsoTime, ({ atMs }) => new Date(atMs).toISOString()),
  keyId: shown(
    'key',
    Nullable(Type.Object({ id: Type.String(), name: Type.String() })),
    ({ keyId }, nameOf) => (keyId === undefined ? null : { id: keyId, name: nameOf(keyId) }),
  ),
  askedModel: shown(
    'asked_model',
    Nullable(columns.askedModel.schema),
    ({ askedModel, model }) => askedModel ?? model ?? null,
  ),
  billed: shown('billed', Tokens, ({ billed }) => tokensReport(billed)),
  shown: shown('shown', Tokens, (row) => tokensReport(row.shown)),
  estimated: shown('estimated', columns.estimated.schema, ({ estimated }) => estimated ?? false),
  cost: shown('cost', Nullable(Cost), ({ cost }) => (cost ? costReport(cost) : null)),
  tags: shown('tags', columns.tags.schema, ({ tags }) => tags ?? {}),
  cache: shown('cache', Nullable(CacheReport), ({ cache }) => (cache ? cacheReport(cache) : null)),
};

/** Fields that only the report of one request shows, and the time to the first content. */
const hidden = ['firstTokenMs', 'additions', 'trace'] as const satisfies readonly ColumnName[];

type PlainName = Exclude<ColumnName, keyof typeof shownOtherwise | (typeof hidden)[number]>;
type StoredOf<Name extends PlainName> = Parameters<Columns[Name]['read']>[0];
type PlainSchema<Field extends Columns[PlainName]> =
  undefined extends ReturnType<Field['read']> ? TUnion<[Field['schema'], TNull]> : Field['schema'];

/** Fields of a report by their name, which for plain ones is that of the column. */
type RequestFields = {
  [Name in PlainName as keyof StoredOf<Name> & string]: PlainSchema<Columns[Name]>;
} & {
  [
    Name in keyof typeof shownOtherwise as (typeof shownOtherwise)[Name]['name']
  ]: (typeof shownOtherwise)[Name]['schema'];
};

const shownFields: readonly ShownField[] = fields
  .filter(([name]) => !hidden.some((other) => other === name))
  .map(([name, { columns: names, schema, isOptional }]) => {
    if (name in shownOtherwise) return shownOtherwise[name as keyof typeof shownOtherwise]; // one of its keys
    return shown(names[0] ?? '', isOptional ? Nullable(schema) : schema, (row) => row[name] ?? null);
  });

/** Schemas of the fields of a report. */
export const requestFields = Object.fromEntries(
  shownFields.map(({ name, schema }) => [name, schema]),
) as RequestFields; // as `shownFields` has them

/** Report of a row, by the names of its fields. */
export function shownOf(row: LedgerRow, nameOf: NameOf): Record<string, unknown> {
  const report: Record<string, unknown> = {};
  for (const { name, of } of shownFields) report[name] = of(row, nameOf);
  return report;
}

function shown<Name extends string, Schema extends TSchema>(
  name: Name,
  schema: Schema,
  of: ShownField['of'],
): ShownField<Name, Schema> {
  return { name, schema, of };
}

function cacheReport({ cause, detail, lostTokens, lostCost }: CacheLoss) {
  const lostUsd = lostCost === undefined ? null : lostCost / nanoUsd;
  return { cause, detail: detail ?? null, lost_tokens: lostTokens, lost_usd: lostUsd };
}
