import { stringify } from 'yaml';
import { isStrict } from './config/environment.js';
import type { Gateway } from './gateway/gateway.js';
import { openGateway } from './features/open.js';
import { loadGatewayConfig, loadGatewayConfigFile } from './gateway/load-config.js';
import { createLogger } from './gateway/telemetry/logs.js';
import type { Clock, Logger } from './plugin/index.js';
import type { Live } from './plugin/core.js';

export { ConfigError } from './config/config.js';
export type { Config, ConfigProblem } from './config/config.js';
export type { ConfigDiff } from './config/diff/config-diff.js';
export { Gateway } from './gateway/gateway.js';
export type { ReloadResult as Taken } from './gateway/options.js';

export interface CreateGatewayOptions {
  /** Master key, which may call everything; without one, only protocol keys of the store are accepted. */
  readonly masterKey?: string;
  /** Encryption key for credentials in the store; without one the store cannot hold any. */
  readonly secretKey?: string;
  /** Encryption key before a rotation, which still opens its sealed data. */
  readonly oldSecretKey?: string;
  /** Password of the console; default: the master key. */
  readonly panelPassword?: string;
  /** Variables for `${NAME}` in the config, PORT, HOST and GW_STRICT; default: none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * Live state shared with other gateways, over a connection of its own, closed with the gateway; default: from `live:`
   * in the config.
   */
  readonly live?: Live;
  /** Default: JSON lines on standard output at `logLevel`. */
  readonly log?: Logger;
  /** Default `info`. */
  readonly logLevel?: string;
  /** Timeout for a plugin to load, to set up, to start and to dispose; default 10 s. */
  readonly pluginTimeoutMs?: number;
  /** Base directory for relative paths of a config object; default: the working directory. */
  readonly baseDir?: string;
  /** Time and timers of everything that limits a request; default: those of the machine. */
  readonly clock?: Clock;
}

/**
 * Creates a gateway that is ready to `listen()`; `config` is the path of a config file, or its content as an
 * object. Throws ConfigError with all problems.
 */
export async function createGateway(
  config: string | object,
  options: CreateGatewayOptions = {},
): Promise<Gateway> {
  const {
    masterKey = '',
    secretKey,
    oldSecretKey,
    panelPassword,
    live,
    env = {},
    log,
    logLevel = 'info',
    baseDir,
    pluginTimeoutMs,
    clock,
  } = options;
  const load = async () =>
    typeof config === 'string'
      ? loadGatewayConfigFile(config, env)
      : loadGatewayConfig({
          text: stringify(config),
          file: 'config',
          env,
          ...(baseDir !== undefined && { baseDir }),
        });
  return openGateway(await load(), {
    isStrict: isStrict(env),
    log: log ?? createLogger(logLevel),
    masterKey,
    loadConfig: load,
    oldSecretKey,
    ...(secretKey !== undefined && { secretKey }),
    ...(panelPassword !== undefined && { panelPassword }),
    ...(live && { live }),
    ...(pluginTimeoutMs !== undefined && { pluginTimeoutMs }),
    ...(clock && { clock }),
  });
}
