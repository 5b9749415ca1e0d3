import { ConfigError } from '../config/config.js';
import type { Logger } from '../plugin/index.js';

export interface Reactions {
  readonly log: Logger;
  /** Finishes what is under way; asked for once. */
  readonly close: () => Promise<void>;
  /** At once, where `close` takes too long for whoever has asked. */
  readonly kill: () => void;
  readonly reload: () => Promise<unknown>;
}

/** SIGTERM and SIGINT end the process, the second one at once; SIGHUP reloads. */
export function onSignals({ log, close, kill, reload }: Reactions): void {
  let isClosing = false;
  const stop = (signal: NodeJS.Signals) => {
    if (isClosing) {
      kill();
      process.exit(1);
    }
    isClosing = true;
    log.info({ signal }, 'Shutting down.');
    void close().then(() => process.exit(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => {
    reload().catch((error: unknown) => {
      const problem = error instanceof ConfigError ? { problems: error.message.split('\n') } : { err: error };
      log.error(problem, 'The config was not taken; the old one keeps running.');
    });
  });
}
