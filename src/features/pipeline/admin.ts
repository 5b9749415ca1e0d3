import { redactAddresses } from '../../kit/schema/redact.js';
import { maskedConfig } from '../../operator/masked-config.js';
import type { RoutesOf } from '../../operator/route-source.js';
import { route, type Call, type Route } from '../../operator/route.js';
import { ListOf } from '../../operator/schemas.js';
import { Type, GatewayError } from '../../plugin/index.js';
import type { Gateway } from '../../gateway/gateway.js';
import { reload, startCanary } from './reload.js';
import { CanaryPercent, CanaryStarted, readPercent, ReloadReport } from './reload-report.js';

const AnyObject = Type.Record(Type.String(), Type.Unknown());

/** Routes of the pipeline, the config and its reload. */
export const adminRoutes: RoutesOf = (gateway) => [
  route({
    method: 'GET',
    path: '/admin/pipeline',
    summary: 'The stages as they run, the named pipelines, and notes for operators; secrets masked.',
    scope: 'config:read',
    answers: {
      200: ListOf(AnyObject, { pipelines: Type.Array(AnyObject), notices: Type.Array(Type.String()) }),
    },
    handle() {
      const { stages, pipelines, notices } = gateway.runtime.pipeline;
      return {
        object: 'list',
        data: redactAddresses(stages),
        pipelines: redactAddresses(pipelines),
        notices,
      };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/config',
    summary: 'The config as in its file, secrets masked.',
    scope: 'config:read',
    answers: { 200: AnyObject },
    handle: () => redactAddresses(maskedConfig(gateway.runtime, gateway.services.slots)),
  }),
  ...reloadRoutes(gateway),
];

/** Route of a reload, of all sessions or for a share of new ones at first. */
function reloadRoutes(gateway: Gateway): readonly Route[] {
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
    throw new GatewayError('invalid_request', 'tests: must be "skip" or omitted.');
  const options = { skipsTests: tests === 'skip' };
  if (options.skipsTests) audit.note({ tests });
  if (canary === undefined) return reload(gateway, audit, options);
  audit.note({ canary });
  const report = await startCanary(gateway, readPercent(canary), options);
  audit.change(undefined, report);
  return report;
}
