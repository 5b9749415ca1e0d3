import { CanaryStatus, readPercent } from '../canary/canary-report.js';
import { problemsOf } from '../../config/config.js';
import { ConfigDiff, noChanges } from '../../config/diff/config-diff.js';
import { Closed } from '../../kit/schema/closed.js';
import { Type } from '../../plugin/index.js';
import type { Gateway } from '../../gateway/gateway.js';
import { route, type Route } from '../../operator/route.js';
import { cancelCanary, canaryStatus, commitCanary, reload, startCanary } from './reload.js';
import { CanaryStarted, ReloadReport } from './reload-report.js';

/** Routes about a reload of the config. */
export function reloadRoutes(gateway: Gateway): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/panel/reload',
      summary:
        'What a reload would change now, or why it would be refused. The stages of the new config are set up for ' +
        'that, not started, and disposed.',
      answers: { 200: PreviewReport },
      async handle() {
        const preview = await gateway.previewReload().then(
          (changes) => ({ problems: [], changes }),
          (error: unknown) => ({ problems: problemsOf(error), changes: noChanges }),
        );
        return { object: 'reload_preview', file: gateway.runtime.config.file, ...preview };
      },
    }),
    route({
      method: 'POST',
      path: '/api/panel/reload',
      summary: 'Reads the config again; the answer says what that has changed.',
      audit: 'config.reload',
      answers: { 200: ReloadReport },
      handle: ({ audit }) => reload(gateway, audit),
    }),
    ...canaryRoutes(gateway),
  ];
}

/** Routes about a reload for a share of new sessions at first. */
function canaryRoutes(gateway: Gateway): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/panel/canary',
      summary: 'The canary that runs, or else the last one, with the figures of both sides.',
      answers: { 200: CanaryStatus },
      handle: () => canaryStatus(gateway),
    }),
    route({
      method: 'POST',
      path: '/api/panel/canary',
      summary: 'Gives the config as it stands now to a share of the new sessions.',
      body: Closed({ percent: Type.Number({ minimum: 0.1, maximum: 50 }) }),
      audit: 'canary.start',
      answers: { 200: CanaryStarted },
      async handle({ body: { percent }, audit }) {
        const report = await startCanary(gateway, readPercent(percent));
        audit.change(undefined, { percent, ...report });
        return report;
      },
    }),
    route({
      method: 'POST',
      path: '/api/panel/canary/commit',
      summary: "Takes the canary's config for all requests.",
      audit: 'canary.commit',
      answers: { 200: ReloadReport },
      handle: ({ audit }) => commitCanary(gateway, audit),
    }),
    route({
      method: 'POST',
      path: '/api/panel/canary/cancel',
      summary: 'Ends the canary; the config in force stays.',
      audit: 'canary.cancel',
      answers: { 200: CanaryStatus },
      handle: () => cancelCanary(gateway),
    }),
  ];
}

/** Preview of a reload as sent by the panel API. */
export const PreviewReport = Type.Object({
  object: Type.Literal('reload_preview'),
  file: Type.String(),
  problems: Type.Array(Type.String(), { description: 'Why a reload would be refused, one sentence each.' }),
  changes: ConfigDiff,
});
