import { Closed, Type } from '../../plugin/internal.js';
import { readExplainCall } from '../../admin/explain-call.js';
import type { Panel } from './panel.js';
import { route, type PanelRoute } from './route.js';

/** Route that explains a request. */
export function explainRoute(panel: Panel): PanelRoute {
  return route({
    method: 'POST',
    path: '/explain',
    summary:
      'Says how a request would be handled now: its stages, the slots considered, what would go out and what its ' +
      'caller would be told. Asks no upstream, and spends no limit.',
    body: ExplainBody,
    maxBodyBytes: 16 * 1024 * 1024,
    noted: 'An operator has had a request explained.',
    answers: { 200: Type.Record(Type.String(), Type.Unknown()) },
    handle: ({ body }) => panel.operations.explain(readExplainCall(body)),
  });
}

const Text = Type.String();

const ExplainBody = Closed({
  post: Type.Optional(Type.String({ description: 'Path with its query; default `/v1/messages`.' })),
  headers: Type.Optional(Type.Record(Text, Text)),
  body: Type.Unknown({ description: 'Body of the request: JSON, or its text.' }),
  as: Type.Optional(
    Type.Union([Text, Type.Null()], {
      description: 'Name or id of its key; `master`, which is the default; null: a caller without a key.',
    }),
  ),
});
