import { pino, type DestinationStream } from 'pino';
import type { Logger } from '../plugin/index.js';

/** JSON lines on standard output, or on `destination`. `level`: pino's names, `silent` for none. */
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

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
