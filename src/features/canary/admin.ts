import type { RoutesOf } from '../../operator/route-source.js';
import { route } from '../../operator/route.js';
import { ReloadReport } from '../pipeline/reload-report.js';
import { CanaryStatus } from './canary-report.js';
import { cancelCanary, canaryStatus, commitCanary } from './answers.js';

/** Routes of a reload for a share of new sessions at first. */
export const adminRoutes: RoutesOf = (gateway) => [
  route({
    method: 'GET',
    path: '/admin/reload',
    summary: 'The running canary, or else the last one, with the figures of both configs.',
    scope: 'config:read',
    answers: { 200: CanaryStatus },
    handle: () => canaryStatus(gateway),
  }),
  route({
    method: 'POST',
    path: '/admin/reload/commit',
    summary: "Applies the canary's config to all requests.",
    scope: 'config:reload',
    audit: 'canary.commit',
    answers: { 200: ReloadReport },
    handle: ({ audit }) => commitCanary(gateway, audit),
  }),
  route({
    method: 'POST',
    path: '/admin/reload/cancel',
    summary: 'Ends the canary; the config in force stays.',
    scope: 'config:reload',
    audit: 'canary.cancel',
    answers: { 200: CanaryStatus },
    handle: () => cancelCanary(gateway),
  }),
];
