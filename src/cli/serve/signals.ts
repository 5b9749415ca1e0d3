import { ConfigError } from '../../config/config.js';
import { isGatewayError, type Logger } from '../../plugin/index.js';
import { exitWhenWritten } from '../../gateway/telemetry/process-exit.js';

interface SignalHandlers {
  readonly log: Logger;
  /** Drains the requests in flight; called once. */
  readonly close: () => Promise<void>;
  /** Called on the second signal, before the process exits at once. */
  readonly kill: () => void;
  /** Does not reject. */
  readonly reload: () => Promise<void>;
}

/**
 * Makes SIGTERM and SIGINT end a start that waits for its store: as process 1 of a container it would get neither
 * without a handler. Returns a function that removes the handlers.
 */
export function endOnSignal(log: Logger): () => void {
  const end = (signal: NodeJS.Signals): void => {
    log.info({ signal }, 'Shutting down.');
    void exitWhenWritten(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, end);
  return () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.off(signal, end);
  };
}

/** Signal handlers: SIGTERM and SIGINT end the process, the second one at once; SIGHUP reloads. */
export function onSignals({ log, close, kill, reload }: SignalHandlers): void {
  let isClosing = false;
  const stop = (signal: NodeJS.Signals) => {
    if (isClosing) {
      kill();
      return void exitWhenWritten(1);
    }
    isClosing = true;
    log.info({ signal }, 'Shutting down.');
    return void close().then(() => exitWhenWritten(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => void reload());
}

/** Logs the reason of a refused reload. */
export function logRefusal(log: Logger): (error: unknown) => void {
  return (error) => {
    const isRefused = error instanceof ConfigError || (isGatewayError(error) && error.code === 'conflict');
    const problem = isRefused ? { problems: error.message.split('\n') } : { err: error };
    log.error(problem, 'The new config was refused; the old one stays in force.');
  };
}
