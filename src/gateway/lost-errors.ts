import { fileURLToPath } from 'node:url';
import type { Logger } from '../plugin/internal.js';
import { read } from '../telemetry/error-report.js';

export interface Ending {
  /** Drains the requests in flight. */
  readonly end: () => Promise<void>;
  /** Time limit for `end`; after it the process exits in any case. */
  readonly maxShutdownMs: () => number;
}

/** Folder of the gateway's own modules. */
const ours = fileURLToPath(new URL('../', import.meta.url));

/**
 * Logs uncaught errors with the plugin's file. After an uncaught exception the state may be inconsistent:
 * requests in flight are drained and the process exits with code 1; an unhandled rejection fails one request
 * at most and is only logged.
 */
export function onLostErrors(log: Logger, ending: Ending): void {
  process.on('unhandledRejection', (error) => {
    const fields = { err: error, plugin: pluginOf(error) };
    log.error(fields, 'An error was not caught; a stage may lack an await.');
  });
  let isEnding = false;
  process.on('uncaughtException', (error) => {
    const fields = { err: error, plugin: pluginOf(error) };
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
  setTimeout(exit, maxShutdownMs()).unref();
  try {
    await end();
  } catch (error) {
    log.error({ err: error }, 'The shutdown failed.');
  }
  exit();
}

function exit(): void {
  process.exit(1);
}

/**
 * Position in a plugin that an error comes from, `/srv/my-plugins/redact.js:12:5`: the first stack frame that
 * is not the gateway's, not Node's and, if there is another, not a package's. Undefined if the stack has
 * none.
 */
export function pluginOf(error: unknown): string | undefined {
  const stack = typeof error === 'object' && error !== null ? read(error, 'stack') : undefined;
  if (typeof stack !== 'string') return undefined;
  const places = stack.slice(0, maxStackLength).split('\n').flatMap(placeIn).filter(isForeign);
  return places.find((place) => !place.includes('/node_modules/')) ?? places[0];
}

const maxStackLength = 20_000;

/** File position of a stack line such as `    at async name (file:///srv/redact.js?mtime=1.5:12:5)`. */
function placeIn(line: string): readonly string[] {
  const trimmed = line.trim();
  if (!trimmed.startsWith('at ')) return [];
  const begin = trimmed.lastIndexOf('(') + 1;
  const place = begin > 0 ? trimmed.slice(begin, -1) : trimmed.slice(trimmed.lastIndexOf(' ') + 1);
  const position = /:\d{1,9}:\d{1,9}$/.exec(place)?.[0];
  if (position === undefined) return [];
  const file = place.slice(0, -position.length).split('?', 1)[0] ?? '';
  const path = file.startsWith('file:') ? pathOf(file) : file;
  return path.startsWith('/') || /^[A-Za-z]:\\/.test(path) ? [`${path}${position}`] : [];
}

function pathOf(url: string): string {
  return URL.canParse(url) ? fileURLToPath(url) : '';
}

/** True for a frame outside the gateway; its built-in plugins count as outside. */
function isForeign(place: string): boolean {
  return !place.startsWith(ours) || place.startsWith(`${ours}plugins/`);
}
