import { CanaryStatus, readPercent } from '../canary/canary-report.js';
import { CanaryStarted, canaryStarted, ReloadReport, reloadReport } from '../slots/report.js';
import { ConfigDiff } from '../../config/diff/config-diff.js';
import { Closed } from '../../kit/schema/closed.js';
import { Type } from '../../plugin/index.js';
import type { Panel } from '../slots/panel-slots.js';
import { route, type PanelRoute } from '../../operator/route.js';

/** Routes about a reload of the config. */
export function reloadRoutes(panel: Panel): readonly PanelRoute[] {
  return [
    route({
      method: 'GET',
      path: '/reload',
      summary:
        'What a reload would change now, or why it would be refused. The stages of the new config are set up for ' +
        'that, not started, and disposed.',
      answers: { 200: PreviewReport },
      async handle() {
        const { problems, changes } = await panel.operations.previewReload();
        return { object: 'reload_preview', file: panel.configFile, problems, changes };
      },
    }),
    route({
      method: 'POST',
      path: '/reload',
      summary: 'Reads the config again; the answer says what that has changed.',
      audit: 'config.reload',
      answers: { 200: ReloadReport },
      async handle({ audit }) {
        const report = reloadReport(await panel.operations.reload());
        audit.change(undefined, report);
        return report;
      },
    }),
    ...canaryRoutes(panel),
  ];
}

/** Routes about a reload for a share of new sessions at first. */
function canaryRoutes({ operations }: Panel): readonly PanelRoute[] {
  const status = async () => ({ object: 'reload', canary: (await operations.canary()) ?? null });
  return [
    route({
      method: 'GET',
      path: '/canary',
      summary: 'The canary that runs, or else the last one, with the figures of both sides.',
      answers: { 200: CanaryStatus },
      handle: status,
    }),
    route({
      method: 'POST',
      path: '/canary',
      summary: 'Gives the config as it stands now to a share of the new sessions.',
      body: Closed({ percent: Type.Number({ minimum: 0.1, maximum: 50 }) }),
      audit: 'canary.start',
      answers: { 200: CanaryStarted },
      async handle({ body: { percent }, audit }) {
        const preview = await operations.startCanary(readPercent(percent));
        const report = canaryStarted(preview, await operations.canary());
        audit.change(undefined, { percent, ...report });
        return report;
      },
    }),
    route({
      method: 'POST',
      path: '/canary/commit',
      summary: "Takes the canary's config for all requests.",
      audit: 'canary.commit',
      answers: { 200: ReloadReport },
      async handle({ audit }) {
        const report = reloadReport(await operations.commitCanary());
        audit.change(undefined, report);
        return report;
      },
    }),
    route({
      method: 'POST',
      path: '/canary/cancel',
      summary: 'Ends the canary; the config in force stays.',
      audit: 'canary.cancel',
      answers: { 200: CanaryStatus },
      async handle() {
        await operations.cancelCanary();
        return status();
      },
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
