import { fileURLToPath } from 'node:url';
import type { Logger } from '../plugin/index.js';
import { read } from '../telemetry/error-report.js';

export interface Ending {
  /** Finishes what is under way. */
  readonly end: () => Promise<void>;
  /** The time after which the process ends whatever has become of that. */
  readonly longestEndMs: () => number;
}

/** The folder of our own modules. */
const ours = fileURLToPath(new URL('../', import.meta.url));

/**
 * Logs what nobody catches, with the plugin's file. An exception has left something half done: `end` finishes the requests
 * under way, and then the process ends with code 1. A rejected promise that nobody awaits fails one request at most, and
 * the process goes on.
 */
export function onLostErrors(log: Logger, ending: Ending): void {
  process.on('unhandledRejection', (error) => {
    const fields = { err: error, plugin: pluginOf(error) };
    log.error(fields, 'Nobody has caught this error; a stage may lack an await.');
  });
  let isEnding = false;
  process.on('uncaughtException', (error) => {
    const fields = { err: error, plugin: pluginOf(error) };
    log.error(fields, 'An exception was not caught; requests under way are finished, then the process ends.');
    if (isEnding) return;
    isEnding = true;
    void endBy(ending, log);
  });
}

async function endBy({ end, longestEndMs }: Ending, log: Logger): Promise<void> {
  setTimeout(exit, longestEndMs()).unref();
  try {
    await end();
  } catch (error) {
    log.error({ err: error }, 'The end was not a clean one.');
  }
  exit();
}

function exit(): void {
  process.exit(1);
}

/**
 * The place in a plugin that an error comes from, `/srv/my-plugins/redact.js:12:5`: the first one of its stack that is
 * neither ours nor Node's nor, where there is another, a package's. Undefined where the stack has none.
 */
export function pluginOf(error: unknown): string | undefined {
  const stack = typeof error === 'object' && error !== null ? read(error, 'stack') : undefined;
  if (typeof stack !== 'string') return undefined;
  const places = stack.slice(0, longestStack).split('\n').flatMap(placeIn).filter(isForeign);
  return places.find((place) => !place.includes('/node_modules/')) ?? places[0];
}

const longestStack = 20_000;

/** `    at async name (file:///srv/redact.js?mtime=1.5:12:5)`. */
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

/** The plugins that gw2api brings are as good as any. */
function isForeign(place: string): boolean {
  return !place.startsWith(ours) || place.startsWith(`${ours}plugins/`);
}
