import type { Static } from 'typebox';
import type { Gateway, ReloadOptions } from '../../gateway/gateway.js';
import type { AuditedAction } from '../../state/audit/audited-action.js';
import { refused, reloadReport, type CanaryStarted, type ReloadReport } from './reload-report.js';

type Canary = Gateway['canary'];
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
  canary: Canary,
  percent: number,
  options?: ReloadOptions,
): Promise<Static<typeof CanaryStarted>> {
  const changes = await canary.start(percent, options).catch(refused);
  return { status: 'canary', shared: canary.report?.shared ?? true, changes };
}

/** Takes the canary's config wholly. Throws `conflict` where none runs. */
export async function commitCanary(canary: Canary, audit: AuditedAction): Promise<Reloaded> {
  const report = reloadReport(await canary.commit());
  audit.change(undefined, report);
  return report;
}

/** The canary that runs, or else the last one. */
export function canaryStatus({ report }: Canary): object {
  return { object: 'reload', canary: report ?? null };
}
