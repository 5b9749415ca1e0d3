import { ReloadReport, reloadReport } from '../../admin/reports.js';
import { ConfigDiff } from '../../config-diff/index.js';
import { Type } from '../../plugin/internal.js';
import type { Panel } from './panel.js';
import { route, type PanelRoute } from './route.js';

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
      answers: { 200: ReloadReport },
      handle: async () => reloadReport(await panel.operations.reload()),
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
