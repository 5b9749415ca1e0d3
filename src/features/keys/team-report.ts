import type { Static } from 'typebox';
import { Closed } from '../../kit/schema/type.js';
import { limitFields, type MeterReading, type Team, type WindowLimit } from '../../plugin/core.js';
import { Type, windowLimits } from '../../plugin/index.js';
import type { TeamPatch } from '../../state/store/contract/store.js';
import { withoutUndefined } from './key-report.js';
import { pipelinePatch, reportedPipeline, settablePipeline } from './pipeline-field.js';
import { limitsPatch, limitsReport, reportedLimits, settableLimits } from './limit-fields.js';
import { Count, IsoTime, Line, Note, Nullable } from '../../operator/schemas.js';

/** Body of a request that makes a team. */
export const NewTeam = Closed({ name: Line, pipeline: settablePipeline, ...settableLimits, note: Note });

/** Merge patch of a team. */
export const ChangedTeam = Closed({
  name: Type.Optional(Line),
  pipeline: settablePipeline,
  ...settableLimits,
  note: Note,
});

const Used = Nullable(
  Type.Object({
    amount: Type.Number({ description: 'In the unit of the limit.' }),
    resets_at: Nullable(IsoTime),
  }),
);

const UsedLimits = Type.Object(
  {
    requests_per_minute: Used,
    tokens_per_minute: Used,
    tokens_per_day: Used,
    tokens_per_month: Used,
    usd_per_day: Used,
    usd_per_month: Used,
  },
  { description: 'Current use of each limit in its window; null: no limit.' },
);

/** A team as sent by the console API. */
export const TeamReport = Type.Object({
  id: Type.String(),
  name: Type.String(),
  created_at: IsoTime,
  keys: Count,
  pipeline: reportedPipeline,
  ...reportedLimits,
  used: UsedLimits,
  note: Nullable(Type.String()),
});

/** Use of limits now, in their units. */
export type LimitsInUse = Partial<Readonly<Record<WindowLimit, MeterReading>>>;

interface TeamFacts {
  /** Number of its keys. */
  readonly keys: number;
  readonly used: LimitsInUse;
  readonly nowMs: number;
}

export function teamReport(team: Team, { keys, used, nowMs }: TeamFacts): Static<typeof TeamReport> {
  const { id, name, createdAtMs, note } = team;
  return {
    id,
    name,
    created_at: new Date(createdAtMs).toISOString(),
    keys,
    pipeline: team.pipeline ?? null,
    ...limitsReport(team),
    used: usedReport(team, used, nowMs),
    note: note ?? null,
  };
}

/** Settings of a team, as the audit log shows them. */
export function teamSettings(team: Team): object {
  return { name: team.name, pipeline: team.pipeline ?? null, ...limitsReport(team), note: team.note ?? null };
}

function usedReport(team: Team, used: LimitsInUse, nowMs: number): Static<typeof UsedLimits> {
  const fields = windowLimits.map((limit) => {
    const { used: amount = 0, resetsInMs } = used[limit] ?? {};
    const isOpen = resetsInMs !== undefined && resetsInMs > 0;
    const resetsAt = isOpen ? new Date(Math.round((nowMs + resetsInMs) / 1000) * 1000).toISOString() : null;
    return [limitFields[limit], team[limit] === undefined ? null : { amount, resets_at: resetsAt }] as const;
  });
  return Object.fromEntries(fields) as Static<typeof UsedLimits>; // a field for each limit
}

/** Patch with the fields that a body contains, and no others. */
export function toTeamPatch(body: Static<typeof ChangedTeam>): TeamPatch {
  const { name, note } = body;
  return withoutUndefined<TeamPatch>({ name, note, pipeline: pipelinePatch(body), ...limitsPatch(body) });
}
