import { pino, type DestinationStream } from 'pino';
import type { Logger } from '../plugin/internal.js';
import { errorReport } from './error-report.js';

/**
 * JSON lines to `destination`, by default standard output, unbuffered. `level`: as in pino, `silent` for
 * none.
 */
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

/** Second of the last line, in ms since 1970, and its text. */
let second = Number.NaN;
let secondText = '';

/** Timestamp in pino's format. Caches the text of the second, as formatting a date is slow. */
export function isoTime(nowMs = Date.now()): string {
  const ms = nowMs % 1000;
  if (nowMs - ms !== second) {
    second = nowMs - ms;
    secondText = new Date(second).toISOString().slice(0, -4);
  }
  return `,"time":"${secondText}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z"`;
}

interface LogOutput extends DestinationStream {
  /** Flushes the buffer; to be called when the process ends. */
  flush(): void;
}

/** Max buffering time of a line: each write is a system call that blocks the event loop. */
const gatherMs = 20;

/** Standard output with buffering: lines of some milliseconds are written together. */
function standardOutput(): LogOutput {
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

export const logFormats = ['json', 'pretty'] as const;

export type LogFormat = (typeof logFormats)[number];

/** Logger on standard output, flushed when the process exits. `pretty`: lines for people in place of JSON. */
export async function processLog(level: string, format: LogFormat = 'json'): Promise<Logger> {
  const output = standardOutput();
  process.on('exit', () => output.flush());
  if (format === 'json') return createLogger(level, output);
  const { prettyLine } = await import('./pretty-line.js');
  const hasColors = process.stdout.isTTY && process.stdout.hasColors();
  return createLogger(level, { write: (line) => output.write(prettyLine(line, hasColors)) });
}
