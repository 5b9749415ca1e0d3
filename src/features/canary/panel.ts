import { Closed } from '../../kit/schema/type.js';
import { Type } from '../../plugin/index.js';
import type { RoutesOf } from '../../operator/route-source.js';
import { route } from '../../operator/route.js';
import { startCanary } from '../pipeline/reload.js';
import { CanaryStarted, readPercent, ReloadReport } from '../pipeline/reload-report.js';
import { CanaryStatus } from './canary-report.js';
import { cancelCanary, canaryStatus, commitCanary } from './answers.js';

/** Routes about a reload for a share of new sessions at first. */
export const panelRoutes: RoutesOf = (gateway) => [
  route({
    method: 'GET',
    path: '/api/panel/canary',
    summary: 'The running canary, or else the last one, with the figures of both configs.',
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
    summary: "Applies the canary's config to all requests.",
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
