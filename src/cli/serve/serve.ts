import { availableParallelism } from 'node:os';
import { readConfigFile } from '../../config/load.js';
import { isStrict } from '../../config/environment.js';
import { masterKeyOf, secretKeyOf } from './first-start.js';
import { loadGatewayConfig, loadGatewayConfigFile, otherFile } from '../../gateway/load-config.js';
import { reloadBySystem, type ReloadCause } from '../../features/pipeline/system-reload.js';
import { onLostErrors } from '../../gateway/lost-errors.js';
import { configTests } from '../../features/config-tests.js';
import { lastStepsMs } from '../../gateway/shutdown.js';
import { listenProblem, UsageError } from '../../gateway/start-failure.js';
import { systemClock } from '../../plugin/index.js';
import { logFormats, logLevels, processLog, type LogFormat } from '../../gateway/telemetry/logs.js';
import { exitWhenWritten } from '../../gateway/telemetry/process-exit.js';
import { startWatchdog } from '../watchdog/watchdog.js';
import { ConfigWatch } from './config-watch.js';
import { refuseUnsendable } from '../sent-secrets.js';
import { endOnSignal, logRefusal, onSignals } from './signals.js';
import { announce, type Start } from './start.js';

/** Serves in this process, or in the configured number of workers. Throws if the start fails. */
export async function serve(file: string): Promise<undefined> {
  const { env } = process;
  refuseUnsendable(env);
  const logLevel = logLevelOf(env['GW_LOG_LEVEL']);
  const logFormat = logFormatOf(env['GW_LOG_FORMAT']);
  const log = await processLog(logLevel, logFormat);
  const input = await readConfigFile(file, env, otherFile);
  const config = await loadGatewayConfig(input);
  const watch = config.reload.watch ? await ConfigWatch.open(file, env) : undefined;
  const { masterKey, isNew } = masterKeyOf(env);
  const secretKey = secretKeyOf(process.cwd(), env);
  const start = {
    file,
    env,
    text: input.text,
    config,
    log,
    logLevel,
    logFormat,
    masterKey,
    isNewKey: isNew,
    secretKey,
  };
  const { workers } = config.listen;
  const size = workers === 'auto' ? availableParallelism() : workers;
  const stopEnding = endOnSignal(log);
  const server: Server = size === 1 ? await openAlone(start) : await openPool(start, size);
  stopEnding();
  onLostErrors(log, server);
  const closing = new AbortController();
  const reload = (cause: ReloadCause) => server.reload(cause).catch(logRefusal(log));
  const close = (): Promise<void> => {
    closing.abort();
    return server.close();
  };
  onSignals({ log, close, kill: server.kill, reload: () => reload('SIGHUP') });
  await announce(await server.start(), start, size === 1 ? {} : { workers: size });
  watch?.start({ clock: systemClock, signal: closing.signal, reload: () => reload('watch') });
  server.lost?.catch((error: unknown) => {
    log.error({}, error instanceof Error ? error.message : String(error));
    void close().then(() => exitWhenWritten(1));
  });
}

/** This process or a pool of workers, as the signal handlers see it. */
interface Server {
  /** Listens, and returns the URL. */
  start(): Promise<string>;
  /** Drains the requests in flight. */
  close(): Promise<void>;
  /** Likewise, after an uncaught exception. */
  end(): Promise<void>;
  readonly kill: () => void;
  reload(cause: ReloadCause): Promise<void>;
  maxShutdownMs(): number;
  /** Rejects when the server can no longer serve. */
  readonly lost?: Promise<never>;
}

// Imported lazily: a process needs only one of the two.

async function openAlone({ file, env, config, log, masterKey, secretKey, ...start }: Start): Promise<Server> {
  const { openGateway } = await import('../../features/open.js');
  const loadConfig = () => loadGatewayConfigFile(file, env, otherFile);
  const panelPassword = env['GW_PANEL_PASSWORD'] ?? '';
  const gateway = await openGateway(config, {
    log,
    masterKey,
    secretKey: env['GW_SECRET_KEY'] || secretKey,
    oldSecretKey: env['GW_SECRET_KEY_OLD'],
    panelPassword,
    loadConfig,
    testConfig: (signal) => configTests.run(file, env, signal),
    isStrict: isStrict(env),
  });
  const watch = (): Promise<void> =>
    startWatchdog({
      stuckTimeoutMs: config.listen.stuckTimeoutMs,
      isWorker: false,
      log: { level: start.logLevel, format: start.logFormat, fields: {} },
      runModule: gateway.services.store.runModule,
    });
  return {
    maxShutdownMs: () => gateway.runtime.config.listen.shutdownTimeoutMs + lastStepsMs,
    close: () => gateway.close(),
    end: () => gateway.close({ isBroken: true }),
    kill: () => undefined,
    reload: (cause) => reloadBySystem(gateway.services.audit, cause, () => gateway.reload()),
    async start() {
      const url = await gateway.listen().catch((error: unknown) => {
        throw listenProblem(error, config.listen);
      });
      await watch();
      return url;
    },
  };
}

async function openPool(start: Start, size: number): Promise<Server> {
  const { openWorkers } = await import('../workers/primary.js');
  return openWorkers(start, size);
}

function logLevelOf(level: string | undefined): string {
  if (!level) return 'info';
  if (logLevels.some((known) => known === level)) return level;
  throw new UsageError(`GW_LOG_LEVEL must be one of ${logLevels.join(', ')}, not "${level}".`);
}

function logFormatOf(format: string | undefined): LogFormat {
  if (!format) return 'json';
  const known = logFormats.find((one) => one === format);
  if (known) return known;
  throw new UsageError(`GW_LOG_FORMAT must be one of ${logFormats.join(', ')}, not "${format}".`);
}
