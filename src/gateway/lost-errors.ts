import { pluginPlace } from '../engine/trace/plugin-place.js';
import type { Logger } from '../plugin/index.js';
import { exitWhenWritten } from './telemetry/process-exit.js';

export interface Ending {
  /** Drains the requests in flight. */
  readonly end: () => Promise<void>;
  /** Time limit for `end`; after it the process exits in any case. */
  readonly maxShutdownMs: () => number;
}

/**
 * Logs uncaught errors with the plugin's file. After an uncaught exception the state may be inconsistent:
 * requests in flight are drained and the process exits with code 1; an unhandled rejection fails one request
 * at most and is only logged.
 */
export function onLostErrors(log: Logger, ending: Ending): void {
  process.on('unhandledRejection', (error) => {
    const fields = { err: error, plugin: pluginPlace(error) };
    log.error(fields, 'An error was not caught; an await may be missing in a stage.');
  });
  let isEnding = false;
  process.on('uncaughtException', (error) => {
    const fields = { err: error, plugin: pluginPlace(error) };
    log.error(
      fields,
      'An exception was not caught; the process finishes the requests in flight, then exits.',
    );
    if (isEnding) return;
    isEnding = true;
    void endBy(ending, log);
  });
}

async function endBy({ end, maxShutdownMs }: Ending, log: Logger): Promise<void> {
  setTimeout(() => void exitWhenWritten(1), maxShutdownMs()).unref();
  try {
    await end();
  } catch (error) {
    log.error({ err: error }, 'The shutdown failed.');
  }
  await exitWhenWritten(1);
}
