import { Type } from '../../plugin/index.js';
import { GivenRequestBody, noteGiven, readGivenRequest } from '../../operator/given-request.js';
import { liveExplainer } from './extension.js';
import { withoutTexts } from './without-texts.js';
import type { RoutesOf } from '../../operator/route-source.js';
import { route } from '../../operator/route.js';

/** Route that explains a request. */
export const panelRoutes: RoutesOf = (gateway) => [
  route({
    method: 'POST',
    path: '/api/panel/explain',
    summary:
      'Explains how a request would be handled now: its stages, the slots considered, what would go out and what its ' +
      'caller would be told. Calls no upstream and uses up no limit. Viewers get the stages and slots without texts.',
    role: 'viewer',
    body: GivenRequestBody,
    readsBody: true,
    maxBodyBytes: 16 * 1024 * 1024,
    audit: 'request.explain',
    noted: 'An operator requested an explanation.',
    answers: { 200: Type.Record(Type.String(), Type.Unknown()) },
    async handle({ readBody, actor, audit }) {
      const explainer = await gateway.use(liveExplainer);
      const explanation = await explainer.explain(async () =>
        noteGiven(readGivenRequest(await readBody()), audit),
      );
      return actor.role === 'admin' ? explanation : withoutTexts(explanation);
    },
  }),
];
