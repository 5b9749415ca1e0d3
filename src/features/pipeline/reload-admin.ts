import { GatewayError, Type } from '../../plugin/index.js';
import type { Gateway } from '../../gateway/gateway.js';
import { route, type Call, type Route } from '../../operator/route.js';
import { reload, startCanary } from './reload.js';
import { CanaryPercent, CanaryStarted, readPercent, ReloadReport } from './reload-report.js';

/** Route of a reload, wholly or for a share of new sessions at first. */
export function reloadRoutes(gateway: Gateway): readonly Route[] {
  return [
    route({
      method: 'POST',
      path: '/admin/reload',
      summary: 'Reads the config again; with `canary` for a share of the new sessions at first.',
      scope: 'config:reload',
      audit: 'config.reload',
      query: Type.Object({
        tests: Type.Optional(Type.Literal('skip', { description: 'Do not run the tests of the config.' })),
        canary: Type.Optional(CanaryPercent),
      }),
      answers: { 200: Type.Union([ReloadReport, CanaryStarted]) },
      handle: (call) => reloadAsAsked(gateway, call),
    }),
  ];
}

async function reloadAsAsked(
  gateway: Gateway,
  { ctx, audit }: Pick<Call<unknown, unknown>, 'ctx' | 'audit'>,
): Promise<object> {
  const { tests, canary } = ctx.query;
  if (tests !== undefined && tests !== 'skip')
    throw new GatewayError('invalid_request', 'tests: say skip, or leave it out.');
  const options = { skipsTests: tests === 'skip' };
  if (options.skipsTests) audit.note({ tests });
  if (canary === undefined) return reload(gateway, audit, options);
  audit.note({ canary });
  const report = await startCanary(gateway, readPercent(canary), options);
  audit.change(undefined, report);
  return report;
}
