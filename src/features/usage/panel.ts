import type { Readable } from 'node:stream';
import type { Static } from 'typebox';
import { Closed } from '../../kit/schema/type.js';
import { Duration, durationMs, Type } from '../../plugin/index.js';
import type { UsageQuery, UsageSum } from '../../plugin/core.js';
import { tagNamePattern } from '../../engine/trace/usage-tags.js';
import { Time, timeMs } from '../../kit/schema/units.js';
import { invalid } from '../../operator/check.js';
import { As, columnsOf, csvAnswer, wantsCsv } from '../../operator/csv.js';
import { jsonInPieces } from '../../operator/json.js';
import type { Names } from '../../operator/names.js';
import type { RoutesOf } from '../../operator/route-source.js';
import { latencyReports, placeOf } from './latency-report.js';
import { filterFields, toCondition } from '../../operator/ledger-query.js';
import type { Gateway } from '../../gateway/gateway.js';
import { cacheHitRatio, costReport, nanoUsd, tokensReport } from '../../operator/ledger-report.js';
import { route, type OperatorContext, type Route } from '../../operator/route.js';
import { UsageBucket, UsageGroup, UsageReport } from '../../operator/schemas.js';
import { withTeamId } from '../../operator/team-id.js';
import { dayMs, hourMs } from '../../kit/time/clock.js';

/** Route `GET /api/panel/usage`. */
export const panelRoutes: RoutesOf = (gateway, { names }) => [usageRoute(gateway, names)];

function usageRoute(gateway: Gateway, names: Names): Route {
  const { store, now } = gateway.services;
  return route({
    method: 'GET',
    path: '/api/panel/usage',
    summary:
      'Requests, errors, tokens and times by bucket of time and by group; buckets without a request are left out.',
    query: Query,
    answers: { 200: UsageReport },
    otherAnswerType: 'text/csv',
    async handle({ query, ctx }) {
      const asked = toUsageQuery(await withTeamId(store, query), gateway, now());
      const sums = await store.ledger.usage({ ...asked, limit: maxSums + 1 });
      if (sums.length > maxSums)
        throw invalid([
          `by: the answer would have more than ${maxSums} sums; ask for a shorter time, or a longer step`,
        ]);
      const nameOf = await nameOfGroup(asked.by, names);
      const latency = latencyReports(query.latency === false ? [] : await store.ledger.latency(asked));
      const report = (sum: UsageSum) => ({
        ...bucketReport(sum, asked.by === null ? null : nameOf),
        latency: latency.get(placeOf(sum)) ?? null,
      });
      const head = {
        object: 'usage',
        from: new Date(asked.fromMs).toISOString(),
        to: new Date(asked.toMs).toISOString(),
        by: asked.by,
        tag: asked.tag ?? null,
        step_seconds: asked.stepMs / 1000,
      };
      if (wantsCsv(ctx, query.as)) return usageCsv(ctx, sums.map(report));
      ctx.type = 'application/json';
      return jsonInPieces(head, sums, report);
    },
  });
}

const Query = Closed({
  from: Type.Optional(Time({ description: 'Default: a day before `to`.' })),
  to: Type.Optional(Time({ description: 'Default: now.' })),
  by: Type.Optional(UsageGroup),
  as: Type.Optional(As),
  ...filterFields,
  latency: Type.Optional(
    Type.Boolean({
      description: 'False: omits percentiles, which take the longest to compute. Default: true.',
    }),
  ),
  tag: Type.Optional(
    Type.String({
      pattern: tagNamePattern,
      description: 'With `by=tag`: the sums of each value of this tag; without it, those of each tag in use.',
    }),
  ),
  step: Type.Optional(
    Duration({
      description:
        'Default 1h. A step of whole hours extends the time to whole hours; other steps are limited to 24 hours.',
    }),
  ),
});

/** Names of groups; slots, models, tags and the like are their own names. */
async function nameOfGroup(by: UsageQuery['by'], names: Names): Promise<(group: string) => string> {
  if (by === 'key') return names.ofKeys();
  return by === 'team' ? names.ofTeams() : (group) => group;
}

function usageCsv(ctx: OperatorContext, reports: readonly object[]): Readable {
  const batches = (async function* () {
    for (let at = 0; at < reports.length; at += 250) yield reports.slice(at, at + 250);
  })();
  return csvAnswer(ctx, 'usage', columnsOf(UsageBucket), batches);
}

const maxStepMs = 366 * dayMs;
const maxBuckets = 2000;

/**
 * Max range of a step that is not whole hours: the ledger has sums per hour, and other steps read every
 * request.
 */
const maxUnsummedMs = dayMs;
const maxSums = 20_000;

/** Max range of filters that the hourly sums do not support. */
const maxCountedMs = 31 * dayMs + hourMs;

/** True if the hourly sums have the answer: they support one group at a time. */
function isSummed(filters: readonly string[], by: UsageQuery['by'] | undefined): boolean {
  const [filter = by ?? 'format', ...others] = filters;
  return others.length === 0 && hourlyGroups.has(filter) && (by === undefined || by === filter);
}

const hourlyGroups: ReadonlySet<string> = new Set(UsageGroup.enum);

/**
 * Checks a usage query. For a step of whole hours the range is widened to whole hours, as the ledger sums
 * them, so that the answer states the real range.
 */
function toUsageQuery(
  { from, to, by, tag, step = '1h', as: _, latency: __, ...filters }: Static<typeof Query>,
  gateway: Gateway,
  nowMs: number,
): UsageQuery {
  if (tag !== undefined && by !== 'tag') throw invalid(['tag: is for `by=tag`']);
  const stepMs = durationMs(step);
  if (stepMs < 1000) throw invalid(['step: must be at least "1s"']);
  if (stepMs > maxStepMs) throw invalid(['step: must be at most "366d"']);
  const toAsked = to === undefined ? nowMs : timeMs(to);
  const fromAsked = from === undefined ? toAsked - dayMs : timeMs(from);
  if (fromAsked >= toAsked) throw invalid(['from: must be before `to`']);
  const isHourly = stepMs % hourMs === 0;
  if (!isHourly && toAsked - fromAsked > maxUnsummedMs)
    throw invalid([`step: must be whole hours, such as "1h", if the time is longer than 24 hours`]);
  const fromMs = isHourly ? Math.floor(fromAsked / hourMs) * hourMs : fromAsked;
  const toMs = isHourly ? Math.ceil(toAsked / hourMs) * hourMs : toAsked;
  const buckets = Math.ceil((toMs - fromMs) / stepMs);
  if (buckets > maxBuckets)
    throw invalid([
      `step: makes ${buckets} buckets of this time, but at most ${maxBuckets} are allowed: use a longer one`,
    ]);
  const where = toCondition(filters, gateway);
  if (toMs - fromMs > maxCountedMs && !isSummed(Object.keys(filters), by))
    throw invalid(['from: these filters count request by request, which is limited to 31 days']);
  return { fromMs, toMs, by: by ?? null, ...(tag !== undefined && { tag }), where, stepMs };
}

function bucketReport(
  sum: UsageSum,
  nameOf: ((group: string) => string) | null,
): Omit<Static<typeof UsageBucket>, 'latency'> {
  const { group, requests, errors, firstEvents } = sum;
  return {
    at: new Date(sum.atMs).toISOString(),
    group: nameOf && group,
    name: nameOf && nameOf(group),
    requests,
    errors,
    billed: tokensReport(sum.billed),
    shown: tokensReport(sum.shown),
    cost: {
      ...costReport({ billed: sum.billedCost, shown: sum.shownCost }),
      unpriced_requests: sum.unpriced,
    },
    first_event_ms_avg: firstEvents === 0 ? null : Math.round(sum.firstEventMsSum / firstEvents),
    duration_ms_avg: requests === 0 ? null : Math.round(sum.durationMsSum / requests),
    cache_hit_ratio: cacheHitRatio(sum.billed),
    cache_lost_tokens: sum.cacheLostTokens,
    cache_lost_usd: sum.cacheLostCost / nanoUsd,
  };
}
