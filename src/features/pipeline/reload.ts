import type { Static } from 'typebox';
import type { Gateway } from '../../gateway/gateway.js';
import type { ReloadOptions } from '../../gateway/options.js';
import type { AuditedAction } from '../../state/audit/audited-action.js';
import { canariesOf } from '../../gateway/reload/canary-reloads.js';
import { refused, reloadReport, type CanaryStarted, type ReloadReport } from './reload-report.js';

type Reloaded = Static<typeof ReloadReport>;

/**
 * Reloads the config for an operator. Throws `invalid_request` for a refused one, and `conflict` if its tests fail.
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
  const canaries = await canariesOf(gateway);
  return { status: 'canary', ...(await canaries.start(percent, options).catch(refused)) };
}
