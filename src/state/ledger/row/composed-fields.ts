import { Type } from '../../../plugin/index.js';
import type { CacheCause, LedgerTokens } from '../../../plugin/core.js';
import type { Field } from './fields.js';
import type { CacheLoss, LedgerCost } from './row-values.js';

type TokenKind = 'input' | 'cache_read' | 'cache_write_5m' | 'cache_write_1h' | 'output';

/** Side of the tokens, as the names of its columns begin: billed, or shown. */
export type TokenSide = '' | 'shown_';

export type TokenColumn<Side extends TokenSide = TokenSide> = `${Side}${TokenKind}_tokens`;
export type TokenRecord<Side extends TokenSide> = { readonly [Column in TokenColumn<Side>]: number };

/** Fields of the tokens with their columns, in the order of these. */
const tokenKinds: readonly (readonly [keyof LedgerTokens, TokenKind])[] = [
  ['input', 'input'],
  ['cacheRead', 'cache_read'],
  ['cacheWrite5m', 'cache_write_5m'],
  ['cacheWrite1h', 'cache_write_1h'],
  ['output', 'output'],
];

/** Columns of a side, in the order of `writeTokens`. */
export function tokenColumns<Side extends TokenSide>(side: Side): readonly TokenColumn<Side>[] {
  return tokenKinds.map(([, kind]): TokenColumn<Side> => `${side}${kind}_tokens`);
}

export function writeTokens(tokens: LedgerTokens, values: unknown[]): void {
  for (const [field] of tokenKinds) values.push(tokens[field]);
}

/** Reads the tokens of one side. */
export function tokenReader<Side extends TokenSide>(side: Side): (stored: TokenRecord<Side>) => LedgerTokens {
  const columns = tokenKinds.map(([field, kind]) => [field, `${side}${kind}_tokens`] as const);
  return (stored) => {
    const tokens = { input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };
    for (const [field, column] of columns) tokens[field] = stored[column];
    return tokens;
  };
}

const Count = Type.Integer({ minimum: 0 });
const counts = { input: Count, cacheRead: Count, cacheWrite5m: Count, cacheWrite1h: Count, output: Count };

/** Field of the billed or the shown tokens. */
export function tokens<Side extends TokenSide>(side: Side, description: string) {
  const schema = Type.Object(counts, { description });
  const field: Field<LedgerTokens, TokenRecord<Side>, typeof schema> = {
    columns: tokenColumns(side),
    schema,
    write: writeTokens,
    read: tokenReader(side),
  };
  return field;
}

export interface CostRecord {
  readonly billed_cost: number | null;
  readonly shown_cost: number | null;
}

/** Costs of both sides in nano-USD; absent: unknown. */
export function cost(description: string) {
  const schema = Type.Object({ billed: Count, shown: Count }, { description });
  const field: Field<LedgerCost | undefined, CostRecord, typeof schema> = {
    columns: ['billed_cost', 'shown_cost'],
    isOptional: true,
    schema,
    write: (value, values) => void values.push(value?.billed ?? null, value?.shown ?? null),
    read: ({ billed_cost: billed, shown_cost: shown }) =>
      billed === null || shown === null ? undefined : { billed, shown },
  };
  return field;
}

export interface CacheLossRecord {
  readonly cache_cause: CacheCause | null;
  readonly cache_detail: string | null;
  readonly cache_lost_tokens: number | null;
  readonly cache_lost_cost: number | null;
}

export const cacheCauses = [
  'client_changed',
  'stage_changed',
  'slot_moved',
  'expired',
  'model_changed',
  'provider',
  'unknown',
] as const satisfies readonly CacheCause[];

const Loss = {
  cause: Type.Enum([...cacheCauses]),
  detail: Type.Optional(Type.String()),
  lostTokens: Count,
  lostCost: Type.Optional(Count),
};

/** Loss of cached tokens; absent if none is known. */
export function cacheLoss(description: string) {
  const schema = Type.Object(Loss, { description });
  const field: Field<CacheLoss | undefined, CacheLossRecord, typeof schema> = {
    columns: ['cache_cause', 'cache_detail', 'cache_lost_tokens', 'cache_lost_cost'],
    isOptional: true,
    schema,
    write(value, values) {
      values.push(value?.cause ?? null, value?.detail ?? null);
      values.push(value?.lostTokens ?? null, value?.lostCost ?? null);
    },
    read: readLoss,
  };
  return field;
}

function readLoss(stored: CacheLossRecord): CacheLoss | undefined {
  const { cache_cause: cause, cache_detail: detail, cache_lost_cost: lostCost } = stored;
  if (cause === null) return undefined;
  return {
    cause,
    ...(detail !== null && { detail }),
    lostTokens: stored.cache_lost_tokens ?? 0,
    ...(lostCost !== null && { lostCost }),
  };
}
