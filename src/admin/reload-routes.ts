import type { Router } from '@koa/router';
import { GatewayError } from '../plugin/internal.js';
import { readPercent } from './canary-report.js';
import type { Operations } from './operations.js';
import { canaryStarted, reloadReport } from './reports.js';

/** Adds the routes of a reload, wholly or for a share of new sessions at first. */
export function addReloadRoutes(router: Router, operations: Operations): void {
  router.post('/reload', async (ctx) => {
    const { tests, canary } = ctx.query;
    if (tests !== undefined && tests !== 'skip')
      throw new GatewayError('invalid_request', 'tests: say skip, or leave it out.');
    const options = { skipsTests: tests === 'skip' };
    if (canary === undefined) ctx.body = reloadReport(await operations.reload(options));
    else ctx.body = canaryStarted(await operations.startCanary(readPercent(canary), options));
  });
  router.get('/reload', (ctx) => {
    ctx.body = { object: 'reload', canary: operations.canary ?? null };
  });
  router.post('/reload/commit', async (ctx) => {
    ctx.body = reloadReport(await operations.commitCanary());
  });
  router.post('/reload/cancel', async (ctx) => {
    await operations.cancelCanary();
    ctx.body = { object: 'reload', canary: operations.canary ?? null };
  });
}
