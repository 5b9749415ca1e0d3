import { Type } from '../../plugin/internal.js';
import { ExplainBody, readExplainCall } from '../../admin/explain-call.js';
import type { Panel } from './panel.js';
import { route, type PanelRoute } from './route.js';

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
    noted: 'An operator has had a request explained.',
    answers: { 200: Type.Record(Type.String(), Type.Unknown()) },
    handle: ({ readBody, actor }) =>
      panel.operations.explain(async () => readExplainCall(await readBody()), {
        withoutTexts: actor.role !== 'admin',
      }),
  });
}
