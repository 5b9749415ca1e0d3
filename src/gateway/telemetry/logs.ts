import { pino, type DestinationStream } from 'pino';
import type { Logger } from '../../plugin/index.js';
import { errorReport } from './error-report.js';
import { StandardOutput } from './standard-output.js';

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
  const output = destination ?? new StandardOutput();
  const log = pino(options, output);
  lineWriters.set(log, (at, fields) => {
    if (log.isLevelEnabled(at)) output.write(accessLine(at, fields));
  });
  return log;
}

type WriteAccessLine = (level: 'debug' | 'info', fields: object) => void;

/** By logger, without its children, whose lines have further fields. */
const lineWriters = new WeakMap<Logger, WriteAccessLine>();

/**
 * Logs `request` with fields that are plain values: written as pino writes them, but in one piece, if the logger is one
 * of `createLogger`.
 */
export function logAccess(log: Logger, level: 'debug' | 'info', fields: object): void {
  const write = lineWriters.get(log);
  if (write) write(level, fields);
  else log[level](fields, 'request');
}

/** Line with at least one field. */
function accessLine(level: string, fields: object): string {
  return `{"level":"${level}"${isoTime()},${JSON.stringify(fields).slice(1, -1)},"msg":"request"}\n`;
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

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const logFormats = ['json', 'pretty'] as const;

export type LogFormat = (typeof logFormats)[number];

/** Max buffering time of a line: each write is a system call that blocks the event loop. */
const gatherMs = 20;

/** Logger on standard output, flushed when the process exits. `pretty`: lines for people instead of JSON. */
export async function processLog(level: string, format: LogFormat = 'json'): Promise<Logger> {
  const shown = format === 'pretty' ? { shown: await prettyLines() } : {};
  const onReadAgain = (lost: object): void => log.warn({ dropped: lost }, linesLost);
  const output = new StandardOutput({ gatherMs, onReadAgain, ...shown });
  process.on('exit', () => output.flush());
  const log = createLogger(level, output);
  return log;
}

const linesLost = 'Log lines were dropped: standard output was not read. Check what collects the log.';

async function prettyLines(): Promise<(line: string) => string> {
  const { prettyLine } = await import('./pretty-line.js');
  const hasColors = process.stdout.isTTY && process.stdout.hasColors();
  return (line) => prettyLine(line, hasColors);
}
