import { problemsOf } from '../../config/config.js';
import { ConfigDiff, noChanges } from '../../config/diff/config-diff.js';
import { Type } from '../../plugin/index.js';
import type { Gateway } from '../../gateway/gateway.js';
import { route, type Route } from '../../operator/route.js';
import { reload } from './reload.js';
import { ReloadReport } from './reload-report.js';

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
        const preview = await gateway.reloads.preview().then(
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
  ];
}

/** Preview of a reload as sent by the console API. */
export const PreviewReport = Type.Object({
  object: Type.Literal('reload_preview'),
  file: Type.String(),
  problems: Type.Array(Type.String(), { description: 'Why a reload would be refused, one sentence each.' }),
  changes: ConfigDiff,
});
