import { pino, type DestinationStream } from 'pino';
import type { Logger } from '../plugin/index.js';
import { errorReport } from './error-report.js';

/** JSON lines to `destination`; each at once to standard output without one. `level`: pino's names, `silent` for none. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: errorReport },
  };
  return pino(options, destination ?? pino.destination({ dest: 1, sync: true }));
}

/** The second that lines were last written in, since 1970, and the text of it. */
let second = Number.NaN;
let secondText = '';

/** As pino's own; but to write a date takes 1.5 µs, and the lines of one second differ in three digits only. */
export function isoTime(nowMs = Date.now()): string {
  const ms = nowMs % 1000;
  if (nowMs - ms !== second) {
    second = nowMs - ms;
    secondText = new Date(second).toISOString().slice(0, -4);
  }
  return `,"time":"${secondText}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z"`;
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
