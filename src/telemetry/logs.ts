import { pino, type DestinationStream } from 'pino';
import type { Logger } from '../plugin/index.js';

/** JSON lines to `destination`; each at once to standard output without one. `level`: pino's names, `silent` for none. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: pino.stdSerializers.errWithCause },
  };
  return pino(options, destination ?? pino.destination({ dest: 1, sync: true }));
}

export interface LogOutput extends DestinationStream {
  /** Writes what waits: to be called when the process ends. */
  flush(): void;
}

/** How long a line may wait for others: each write is a call of the system, in which nothing else runs. */
const gatherMs = 20;

/** Standard output, where the lines of some milliseconds go as one write. */
export function standardOutput(): LogOutput {
  const output = pino.destination({ dest: 1, sync: true, minLength: 8 * 1024 });
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    output.flush();
  };
  return {
    flush,
    write: (line) => {
      output.write(line);
      timer ??= setTimeout(flush, gatherMs).unref();
    },
  };
}

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
