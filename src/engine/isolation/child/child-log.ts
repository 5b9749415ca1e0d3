import type { Logger } from '../../../plugin/index.js';

type Write = (level: 'debug' | 'info' | 'warn' | 'error', fields: object, message: string) => void;

/** Logger whose lines are written by the gateway. */
export function childLog(write: Write, own: object = {}): Logger {
  const log =
    (level: Parameters<Write>[0]) =>
    (fields: object, message: string): void =>
      write(level, plainFields({ ...own, ...fields }), message);
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    child: (fields) => childLog(write, { ...own, ...fields }),
  };
}

/** Fields as JSON, with the text of an error. */
function plainFields(fields: object): object {
  const entries = Object.entries(fields).map(([name, value]: [string, unknown]) => [name, plainValue(value)]);
  return Object.fromEntries(entries) as object;
}

function plainValue(value: unknown): unknown {
  if (value instanceof Error) return value.stack ?? value.message;
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null') as unknown;
  } catch {
    return String(value); // a circular value, or a large number
  }
}
