import { fileURLToPath } from 'node:url';

/** Folder of the gateway's own modules. */
const ours = fileURLToPath(new URL('../', import.meta.url));

/**
 * Position in a plugin that an error comes from, `/srv/my-plugins/redact.js:12:5`: the first stack frame that
 * is not the gateway's, not Node's and, if there is another, not a package's. Undefined if the stack has
 * none.
 */
export function pluginPlace(error: unknown): string | undefined {
  const stack = typeof error === 'object' && error !== null ? readProperty(error, 'stack') : undefined;
  if (typeof stack !== 'string') return undefined;
  const places = stack.slice(0, maxStackLength).split('\n').flatMap(placeIn).filter(isForeign);
  return places.find((place) => !place.includes('/node_modules/')) ?? places[0];
}

/** A property, or undefined where reading it throws. */
export function readProperty(object: object, key: string): unknown {
  try {
    return (object as Record<string, unknown>)[key]; // any object has properties, perhaps undefined
  } catch {
    return undefined; // an unreadable field is left out
  }
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
