import type { Static } from 'typebox';
import { problemsOf } from '../../config/config.js';
import { ConfigDiff } from '../../config/diff/config-diff.js';
import type { ReloadResult } from '../../gateway/options.js';
import { GatewayError, Type } from '../../plugin/index.js';

/** Answer to a reload, as sent by `/admin` and the console API. */
export const ReloadReport = Type.Object({
  status: Type.Literal('reloaded'),
  needs_restart: Type.Array(Type.String(), {
    description: 'Sections whose settings have changed since the start and take effect at the next one.',
  }),
  changes: ConfigDiff,
});

/** Builds the answer to a reload. */
export function reloadReport({ needsRestart, changes }: ReloadResult): Static<typeof ReloadReport> {
  return { status: 'reloaded', needs_restart: [...needsRestart], changes };
}

/** Answer to the start of a canary, as sent by `/admin` and the console API. */
export const CanaryStarted = Type.Object({
  status: Type.Literal('canary'),
  shared: Type.Boolean({
    description:
      'False: the other instances could not be reached at the start (Redis is down), so a session may get the other config there.',
  }),
  changes: ConfigDiff,
});

/** Throws `invalid_request` with the problems of a refused config; any other error as it is. */
export function refused(error: unknown): never {
  const problems = problemsOf(error);
  const refusal = 'The new config was refused; the old one stays in force.';
  throw new GatewayError('invalid_request', [refusal, ...problems].join('\n'));
}

/** Shares with at most one digit after the point. */
const percent = /^(?:0\.[1-9]|[1-9](?:\.[0-9])?|[1-4][0-9](?:\.[0-9])?|50)$/;

/** Share of new sessions for a canary, as a parameter. */
export const CanaryPercent = Type.String({
  pattern: percent.source,
  description:
    'Percentage of the new sessions that get the new config, 0.1 to 50; an equal share is the control group.',
});

/** Reads the share of a canary, a parameter or a number. Throws `invalid_request`. */
export function readPercent(value: unknown): number {
  if (['string', 'number'].includes(typeof value) && percent.test(String(value))) return Number(value);
  throw new GatewayError(
    'invalid_request',
    'canary: must be a percentage from 0.1 to 50, with at most one decimal place, such as 5.',
  );
}
