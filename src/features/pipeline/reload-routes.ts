import { GatewayError, Type } from '../../plugin/index.js';
import { CanaryPercent, CanaryStatus, readPercent } from '../canary/canary-report.js';
import type { Operations } from './operations.js';
import { CanaryStarted, canaryStarted, ReloadReport, reloadReport } from '../slots/report.js';
import type { AdminCall, AdminRoute } from '../../operator/admin-route.js';

/** Routes of a reload, wholly or for a share of new sessions at first. */
export const reloadRoutes: readonly AdminRoute[] = [
  {
    method: 'POST',
    path: '/reload',
    summary: 'Reads the config again; with `canary` for a share of the new sessions at first.',
    scope: 'config:reload',
    audit: 'config.reload',
    query: Type.Object({
      tests: Type.Optional(Type.Literal('skip', { description: 'Do not run the tests of the config.' })),
      canary: Type.Optional(CanaryPercent),
    }),
    answer: Type.Union([ReloadReport, CanaryStarted]),
    handle: reload,
  },
  {
    method: 'GET',
    path: '/reload',
    summary: 'The canary that runs, or else the last one, with the figures of both sides.',
    scope: 'config:read',
    answer: CanaryStatus,
    handle: ({ operations }) => canaryStatus(operations),
  },
  {
    method: 'POST',
    path: '/reload/commit',
    summary: "Takes the canary's config for all requests.",
    scope: 'config:reload',
    audit: 'canary.commit',
    answer: ReloadReport,
    async handle({ operations, audit }) {
      const report = reloadReport(await operations.commitCanary());
      audit.change(undefined, report);
      return report;
    },
  },
  {
    method: 'POST',
    path: '/reload/cancel',
    summary: 'Ends the canary; the config in force stays.',
    scope: 'config:reload',
    audit: 'canary.cancel',
    answer: CanaryStatus,
    async handle({ operations }) {
      await operations.cancelCanary();
      return canaryStatus(operations);
    },
  },
];

async function reload({ ctx, operations, audit }: AdminCall): Promise<object> {
  const { tests, canary } = ctx.query;
  if (tests !== undefined && tests !== 'skip')
    throw new GatewayError('invalid_request', 'tests: say skip, or leave it out.');
  const options = { skipsTests: tests === 'skip' };
  if (options.skipsTests) audit.note({ tests });
  if (canary !== undefined) audit.note({ canary });
  const report =
    canary === undefined
      ? reloadReport(await operations.reload(options))
      : canaryStarted(await operations.startCanary(readPercent(canary), options), await operations.canary());
  audit.change(undefined, report);
  return report;
}

async function canaryStatus(operations: Operations): Promise<object> {
  return { object: 'reload', canary: (await operations.canary()) ?? null };
}
