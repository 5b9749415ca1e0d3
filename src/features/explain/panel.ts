import { Type } from '../../plugin/index.js';
import { ExplainBody, readExplainCall } from './explain-call.js';
import { noteExplained } from '../pipeline/admin.js';
import type { Panel } from '../slots/panel-slots.js';
import { route, type PanelRoute } from '../../operator/route.js';

/** Route that explains a request. */
export function explainRoute(panel: Panel): PanelRoute {
  return route({
    method: 'POST',
    path: '/explain',
    summary:
      'Says how a request would be handled now: its stages, the slots considered, what would go out and what its ' +
      'caller would be told. Asks no upstream, and spends no limit. Viewers get the stages and slots without texts.',
    role: 'viewer',
    body: ExplainBody,
    readsBody: true,
    maxBodyBytes: 16 * 1024 * 1024,
    audit: 'request.explain',
    noted: 'An operator has had a request explained.',
    answers: { 200: Type.Record(Type.String(), Type.Unknown()) },
    handle: ({ readBody, actor, audit }) =>
      panel.operations.explain(async () => noteExplained(readExplainCall(await readBody()), audit), {
        withoutTexts: actor.role !== 'admin',
      }),
  });
}
