import type { Static } from 'typebox';
import type { Gateway, ReloadOptions } from '../../gateway/gateway.js';
import type { AuditedAction } from '../../state/audit/audited-action.js';
import { canary } from '../canary/index.js';
import { refused, reloadReport, type CanaryStarted, type ReloadReport } from './reload-report.js';

type Reloaded = Static<typeof ReloadReport>;

/**
 * Reloads the config for an operator. Throws `invalid_request` for one that is refused, and `conflict` where its tests
 * fail.
 */
export async function reload(
  gateway: Gateway,
  audit: AuditedAction,
  options?: ReloadOptions,
): Promise<Reloaded> {
  const report = reloadReport(await gateway.reload(options).catch(refused));
  audit.change(undefined, report);
  return report;
}

/** Starts a canary for this percentage of new sessions. Throws as `reload`, and `conflict`. */
export async function startCanary(
  gateway: Gateway,
  percent: number,
  options?: ReloadOptions,
): Promise<Static<typeof CanaryStarted>> {
  const reloads = await gateway.use(canary);
  const changes = await reloads.start(percent, options).catch(refused);
  return { status: 'canary', shared: reloads.report?.shared ?? true, changes };
}

/** Takes the canary's config wholly. Throws `conflict` where none runs. */
export async function commitCanary(gateway: Gateway, audit: AuditedAction): Promise<Reloaded> {
  const reloads = await gateway.use(canary);
  const report = reloadReport(await reloads.commit());
  audit.change(undefined, report);
  return report;
}

/** Ends the canary. Throws `conflict` where none runs. */
export async function cancelCanary(gateway: Gateway): Promise<object> {
  await (await gateway.use(canary)).cancel();
  return canaryStatus(gateway);
}

/** The canary that runs, or else the last one. */
export async function canaryStatus(gateway: Gateway): Promise<object> {
  const reloads = await gateway.opened(canary);
  return { object: 'reload', canary: reloads?.report ?? null };
}
