import { openGateway } from '../gateway/open.js';
import { loadGatewayConfigFile } from '../gateway/load-config.js';
import { onLostErrors } from './lost-errors.js';
import { announce, lastStepsMs, listenProblem, otherFile, type Start } from './start.js';
import { onSignals } from './signals.js';

/** Serves in this process until a signal ends it. */
export async function serveAlone(start: Start): Promise<void> {
  const { file, env, config, log, masterKey, secretKey } = start;
  const loadConfig = () => loadGatewayConfigFile(file, env, otherFile);
  const panelPassword = env['GW_PANEL_PASSWORD'] ?? '';
  const gateway = await openGateway(config, { log, masterKey, secretKey, panelPassword, loadConfig });
  onLostErrors(log, {
    end: () => gateway.close({ isBroken: true }),
    longestEndMs: () => gateway.config.listen.shutdownTimeoutMs + lastStepsMs,
  });
  onSignals({
    log,
    close: () => gateway.close(),
    kill: () => undefined,
    reload: () => gateway.reload(),
  });
  const url = await gateway.listen().catch((error: unknown) => {
    throw listenProblem(error, config.listen);
  });
  await announce(url, start);
}
