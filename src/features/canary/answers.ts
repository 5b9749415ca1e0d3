import type { Static } from 'typebox';
import type { Gateway } from '../../gateway/gateway.js';
import type { AuditedAction } from '../../state/audit/audited-action.js';
import { reloadReport, type ReloadReport } from '../pipeline/reload-report.js';
import { canary } from './extension.js';

/** Takes the canary's config as a whole. Throws `conflict` if none is running. */
export async function commitCanary(
  gateway: Gateway,
  audit: AuditedAction,
): Promise<Static<typeof ReloadReport>> {
  const reloads = await gateway.use(canary);
  const report = reloadReport(await reloads.commit());
  audit.change(undefined, report);
  return report;
}

/** Ends the canary. Throws `conflict` if none is running. */
export async function cancelCanary(gateway: Gateway): Promise<object> {
  await (await gateway.use(canary)).cancel();
  return canaryStatus(gateway);
}

/** The running canary, or else the last one. */
export async function canaryStatus(gateway: Gateway): Promise<object> {
  const reloads = await gateway.opened(canary);
  return { object: 'reload', canary: reloads?.report ?? null };
}
