import type { Static } from 'typebox';
import { evidenceOf, falseAlarmRate } from './evidence.js';
import { failedSessions, firstTokenPercentile, type CanaryFigures, type SideFigures } from './figures.js';
import { ConfigDiff } from '../../config/diff/config-diff.js';
import { Type } from '../../plugin/index.js';
import { CanaryStarted } from '../pipeline/reload-report.js';

/** State of a canary; `replaced`: another reload came before its end. */
const State = Type.Enum(['running', 'committed', 'cancelled', 'given_up', 'replaced']);
type CanaryState = Static<typeof State>;

const Count = Type.Integer({ minimum: 0 });
const Milliseconds = Type.Union([Type.Number(), Type.Null()]);

const SideReport = Type.Object({
  requests: Count,
  errors: Count,
  error_rate: Type.Number({ description: '0 to 1.' }),
  failed_sessions: Type.Integer({ minimum: 0, description: 'Sessions with an error.' }),
  first_token_ms: Type.Object({ p50: Milliseconds, p95: Milliseconds }),
  added_tokens: Type.Number({
    description: 'Mean tokens that the stages added to a request and that the caller is not shown.',
  }),
});

/** A canary as sent by `/admin` and the console API. */
export const CanaryReport = Type.Object({
  state: State,
  percent: Type.Number({ description: 'Share of new sessions that get the new config.' }),
  started_at: Type.String({ format: 'date-time' }),
  shared: CanaryStarted.properties.shared,
  changes: ConfigDiff,
  candidate: SideReport,
  control: Type.Object(SideReport.properties, {
    description: 'An equal share of new sessions that keep the config in force.',
  }),
  evidence: Type.Number({
    description: `Evidence that the candidate fails more often. It is rolled back at ${1 / falseAlarmRate}.`,
  }),
});
export type CanaryReport = Static<typeof CanaryReport>;

interface CanaryParts {
  readonly state: CanaryState;
  readonly percent: number;
  /** Unix milliseconds. */
  readonly startedMs: number;
  readonly isShared: boolean;
  readonly changes: ConfigDiff;
  readonly figures: CanaryFigures;
}

/** Builds the report on a canary. */
export function canaryReport(parts: CanaryParts): CanaryReport {
  const { state, percent, startedMs, isShared, changes, figures } = parts;
  return {
    state,
    percent,
    started_at: new Date(startedMs).toISOString(),
    shared: isShared,
    changes,
    candidate: sideReport(figures.candidate),
    control: sideReport(figures.control),
    evidence: Math.min(maxEvidence, Number(evidenceOf(failedSessions(figures)).toPrecision(3))),
  };
}

function sideReport(side: SideFigures): Static<typeof SideReport> {
  const { requests, errors, addedTokens } = side;
  return {
    requests,
    errors,
    error_rate: requests === 0 ? 0 : errors / requests,
    failed_sessions: side.failedSessions,
    first_token_ms: { p50: firstTokenPercentile(side, 0.5), p95: firstTokenPercentile(side, 0.95) },
    added_tokens: requests === 0 ? 0 : Math.round(addedTokens / requests),
  };
}

/** Higher values add no information, and JSON has no infinity. */
const maxEvidence = 1e12;

/** Answer about the canary, as sent by `/admin` and the console API. */
export const CanaryStatus = Type.Object({
  object: Type.Literal('reload'),
  canary: Type.Union([CanaryReport, Type.Null()], {
    description: 'The running canary, or else the last one; null: none since the start.',
  }),
});
