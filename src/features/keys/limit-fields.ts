import type { Static } from 'typebox';
import { Type, GatewayError, type KeyLimits } from '../../plugin/index.js';
import { Nullable } from '../../operator/schemas.js';
import type { KeyPatch, TeamPatch } from '../../state/store/contract/store.js';
import { countsBudgets } from '../../gateway/budgets.js';
import type { Gateway } from '../../gateway/gateway.js';

const Limit = Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 1e12 })));
const Usd = Type.Optional(Nullable(Type.Number({ minimum: 0.000_001, maximum: 1_000_000 })));

/** Limits of a key or a team as a body sets them; null removes one. */
export const settableLimits = {
  requests_per_minute: Limit,
  tokens_per_minute: Limit,
  tokens_per_day: Limit,
  tokens_per_month: Limit,
  usd_per_day: Usd,
  usd_per_month: Usd,
  max_concurrent: Limit,
};

const Budget = Nullable(
  Type.Number({ description: 'In USD, of what the upstream bills; a day or month in UTC.' }),
);

/** Limits of a key or a team; null: none. */
export const reportedLimits = {
  requests_per_minute: Nullable(Type.Integer()),
  tokens_per_minute: Nullable(Type.Integer()),
  tokens_per_day: Nullable(Type.Integer()),
  tokens_per_month: Nullable(Type.Integer()),
  usd_per_day: Budget,
  usd_per_month: Budget,
  max_concurrent: Nullable(Type.Integer()),
};

type Settable = { readonly [Field in keyof typeof settableLimits]?: Static<(typeof settableLimits)[Field]> };
type Reported = { readonly [Field in keyof typeof reportedLimits]: Static<(typeof reportedLimits)[Field]> };

export function limitsReport(limits: KeyLimits): Reported {
  return {
    requests_per_minute: limits.requestsPerMinute ?? null,
    tokens_per_minute: limits.tokensPerMinute ?? null,
    tokens_per_day: limits.tokensPerDay ?? null,
    tokens_per_month: limits.tokensPerMonth ?? null,
    usd_per_day: limits.usdPerDay ?? null,
    usd_per_month: limits.usdPerMonth ?? null,
    max_concurrent: limits.maxConcurrent ?? null,
  };
}

/** Limits that a body contains; undefined if it has none. */
export function limitsPatch(body: Settable): {
  readonly [Limit in keyof KeyLimits]-?: number | null | undefined;
} {
  return {
    requestsPerMinute: body.requests_per_minute,
    tokensPerMinute: body.tokens_per_minute,
    tokensPerDay: body.tokens_per_day,
    tokensPerMonth: body.tokens_per_month,
    usdPerDay: body.usd_per_day,
    usdPerMonth: body.usd_per_month,
    maxConcurrent: body.max_concurrent,
  };
}

/** Throws `conflict` for a budget that no stage of the pipeline would count. */
export function refuseUncountedBudget(
  { runtime }: Gateway,
  { usdPerDay, usdPerMonth }: Pick<KeyPatch | TeamPatch, 'usdPerDay' | 'usdPerMonth'>,
): void {
  if (countsBudgets(runtime.pipeline) || (usdPerDay ?? usdPerMonth ?? null) === null) return;
  const field = (usdPerDay ?? null) === null ? 'usd_per_month' : 'usd_per_day';
  throw new GatewayError(
    'conflict',
    `${field}: no stage of the pipeline enforces budgets; list rate-limit in the pipeline, reload, then set it.`,
  );
}
