import type { ServerResponse } from 'node:http';
import {
  definePlugin,
  keyLimits,
  ledgerTokens,
  totalTokens,
  Type,
  type Caller,
  type GatewayState,
  type KeyLimits,
} from '@gw2api/gateway/plugin';
import { headersOf } from './shared/limit-answers.js';
import { Limiter, type Admission, type LimitedHolder } from './shared/limiter.js';

function Count(description: string) {
  return Type.Optional(Type.Integer({ minimum: 1, description }));
}

function Usd(description: string) {
  return Type.Optional(Type.Number({ minimum: 0.000_001, maximum: 1_000_000, description }));
}

/** Limits and budgets of each key and each team: requests, tokens, USD and concurrent requests, over all instances. */
export default definePlugin({
  name: 'rate-limit',
  api: 1,
  requires: ['caller', 'request'],
  reads: ['budgeted', 'answers'],
  provides: ['budgeted', 'estimatesCount'],
  operations: ['generate', 'count-tokens'],
  options: Type.Object({
    requestsPerMinute: Count('For keys without limits of their own. Default of all seven: no limit.'),
    tokensPerMinute: Count('Tokens as shown to the callers.'),
    tokensPerDay: Count('Calendar days and months in UTC.'),
    tokensPerMonth: Count('As tokensPerDay.'),
    usdPerDay: Usd(
      'Budgets in USD, of what the upstreams bill, for calendar days and months in UTC; over them: 429 budget_exceeded. Only slots that have every price of a model may answer (price in models.yaml or of the slot), else 403 forbidden.',
    ),
    usdPerMonth: Usd('As usdPerDay.'),
    maxConcurrent: Count('Concurrent requests, over all instances; one more is 429 with retry-after: 1.'),
    limitMaster: Type.Boolean({
      default: false,
      description: 'Whether these seven apply to the master key too.',
    }),
  }),
  setup({ limitMaster, ...given }, host) {
    const defaults = keyLimits(given);
    const limiter = new Limiter(host);
    const holdersFor = (caller: Caller) => holdersOf(caller, limitsOf(caller, defaults, limitMaster));
    const count = ({ trace }: Pick<GatewayState, 'trace'>, { counted }: Admission) => {
      const tokens = totalTokens(ledgerTokens(trace.usage).shown);
      return limiter.count(counted, { tokens, cost: trace.cost });
    };
    host.supportCalls({
      async admit({ state, isOfRequest }) {
        const holders = holdersFor(state.caller);
        if (holders.length === 0) return;
        if (holders.some(hasBudget)) state.budgeted = true;
        // A call of a request is a part of it, and its request has the permits.
        if (!isOfRequest) await takePermits(limiter, holders, state, 1);
        const admission = await limiter.admit(holders);
        if (admission.refusal) throw admission.refusal;
        state.onSettled(() => count(state, admission));
      },
    });
    // Not async: a caller without limits costs nothing.
    return function rateLimit(ctx, next) {
      const { state } = ctx;
      const { caller, onSettled } = state;
      state.budgeted ??= false;
      state.estimatesCount = false;
      const holders = holdersFor(caller);
      if (holders.length === 0) return next();
      const admit = async () => {
        if (holders.some(hasBudget)) state.budgeted = true;
        await takePermits(limiter, holders, state, state.answers ?? 1);
        if (state.operation === 'count-tokens') {
          state.estimatesCount = !(await limiter.mayCount(holders));
          return next();
        }
        const admission = await limiter.admit(holders);
        const headers = headersOf(admission.gauges);
        ctx.set(headers);
        if (admission.refusal) throw admission.refusal;
        onSettled(() => count(state, admission));
        await next();
        // The caller's own limits, not those of an account that it shares with others.
        if (!areSet(ctx.res, headers)) ctx.set(headers);
      };
      return admit();
    };
  },
});

/** Takes the permits of a request, or of a call, until it has ended. Throws `rate_limited`. */
async function takePermits(
  limiter: Limiter,
  holders: readonly LimitedHolder[],
  { onSettled }: Pick<GatewayState, 'onSettled'>,
  answers: number,
): Promise<void> {
  for (const holder of holders)
    if (holder.limits.maxConcurrent !== undefined) onSettled(await limiter.takePermits(holder, answers));
}

function areSet(response: Pick<ServerResponse, 'getHeader'>, headers: Headers): boolean {
  for (const name in headers) if (response.getHeader(name) !== headers[name]) return false;
  return true;
}

type Headers = ReturnType<typeof headersOf>;

/** Limits of the key itself. */
function limitsOf(
  { kind, limits }: Caller,
  defaults: KeyLimits | undefined,
  limitMaster: boolean,
): KeyLimits | undefined {
  if (kind === 'master') return limitMaster ? defaults : undefined;
  return limits && defaults ? { ...defaults, ...limits } : (limits ?? defaults);
}

const noHolders: readonly never[] = [];

/** The key and its team, as far as they have limits, all of which apply. */
function holdersOf({ keyId, name, team }: Caller, limits: KeyLimits | undefined): readonly LimitedHolder[] {
  if (!limits && !team?.limits) return noHolders;
  const key = limits && { kind: 'key' as const, id: keyId, name, limits };
  const shared = team?.limits && { kind: 'team' as const, id: team.id, name: team.name, limits: team.limits };
  return [...(key ? [key] : []), ...(shared ? [shared] : [])];
}

function hasBudget({ limits: { usdPerDay, usdPerMonth } }: LimitedHolder): boolean {
  return usdPerDay !== undefined || usdPerMonth !== undefined;
}
