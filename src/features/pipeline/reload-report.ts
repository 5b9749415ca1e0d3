import type { Static } from 'typebox';
import { problemsOf } from '../../config/config.js';
import { ConfigDiff } from '../../config/diff/config-diff.js';
import type { Taken } from '../../gateway/options.js';
import { GatewayError, Type } from '../../plugin/index.js';
import { CanaryReport } from '../canary/canary-report.js';

/** Answer to a reload, as sent by `/admin` and the panel API. */
export const ReloadReport = Type.Object({
  status: Type.Literal('reloaded'),
  needs_restart: Type.Array(Type.String(), {
    description: 'Sections with settings that have changed since the start and take effect at the next one.',
  }),
  changes: ConfigDiff,
});

/** Builds the answer to a reload. */
export function reloadReport({ needsRestart, changes }: Taken): Static<typeof ReloadReport> {
  return { status: 'reloaded', needs_restart: [...needsRestart], changes };
}

/** Answer to the start of a canary, as sent by `/admin` and the panel API. */
export const CanaryStarted = Type.Object({
  status: Type.Literal('canary'),
  shared: CanaryReport.properties.shared,
  changes: ConfigDiff,
});

/** Throws `invalid_request` with the problems of a refused config; any other error as it is. */
export function refused(error: unknown): never {
  const problems = problemsOf(error);
  const refusal = 'The new config was refused; the old one stays in force.';
  throw new GatewayError('invalid_request', [refusal, ...problems].join('\n'));
}
