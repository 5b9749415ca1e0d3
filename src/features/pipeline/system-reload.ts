import { reloadReport } from './reload-report.js';
import type { Audit } from '../../state/audit/audit.js';
import { ConfigError } from '../../config/config.js';
import { GatewayError } from '../../plugin/index.js';
import type { ReloadResult } from '../../gateway/options.js';

/** Cause of a reload that was not requested by the console or the API. */
export type ReloadCause = 'SIGHUP' | 'watch';

const noted: Readonly<Record<ReloadCause, string>> = {
  SIGHUP: 'A signal reloaded the config.',
  watch: 'The config was reloaded because one of its files changed.',
};

/** Reloads for a cause, attributed to the system in the audit log. Throws as `reload`. */
export async function reloadBySystem(
  audit: Audit,
  cause: ReloadCause,
  reload: () => Promise<ReloadResult>,
): Promise<void> {
  const actor = { kind: 'system', name: cause } as const;
  const terms = { action: 'config.reload', actor, noted: noted[cause] };
  const run = audit.run(terms, async (action) => {
    const taken = await reload().catch(asRefusal);
    action.change(undefined, reloadReport(taken));
  });
  await run.catch((error: unknown) => {
    throw error instanceof GatewayError && error.cause instanceof ConfigError ? error.cause : error;
  });
}

/** Records refusals in the audit log by their code. */
function asRefusal(error: unknown): never {
  if (!(error instanceof ConfigError)) throw error;
  throw new GatewayError('invalid_request', 'The new config was refused.', { cause: error });
}
