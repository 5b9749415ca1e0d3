import { GatewayError } from '../../plugin/index.js';
import type { KeyPatch, TeamPatch } from '../../state/store/contract/store.js';
import { countsBudgets } from '../../gateway/budgets.js';
import type { Gateway } from '../../gateway/gateway.js';

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
