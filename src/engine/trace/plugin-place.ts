import { fileURLToPath } from 'node:url';
import { packageFile, programFile } from '../../kit/package-files.js';
import { sourceStack } from '../../kit/source-stack.js';

/** Folders of the gateway's own modules, as sources and as they run. */
const ours = [packageFile('src/'), programFile('')];

/**
 * Position in a plugin that an error comes from, `/srv/my-plugins/redact.js:12:5`: the first stack frame that
 * is not the gateway's, not Node's and, if there is another, not a package's. Undefined if the stack has
 * none.
 */
export function pluginPlace(error: unknown): string | undefined {
  const stack = typeof error === 'object' && error !== null ? readProperty(error, 'stack') : undefined;
  if (typeof stack !== 'string') return undefined;
  const places = stackPlaces(sourceStack(stack.slice(0, maxStackLength)))
    .map(({ file, position }) => `${file}:${position}`)
    .filter(isForeign);
  return places.find((place) => !place.includes('/node_modules/')) ?? places[0];
}

/** A property, or undefined if reading it throws. */
export function readProperty(object: object, key: string): unknown {
  try {
    return (object as Record<string, unknown>)[key]; // any object has properties, perhaps undefined
  } catch {
    return undefined; // an unreadable field is left out
  }
}

/** True for a frame outside the gateway; its built-in plugins count as outside. */
function isForeign(place: string): boolean {
  return !ours.some((folder) => place.startsWith(folder)) || place.startsWith(programFile('plugins/'));
}

/** Position in a file, as a stack names it. */
export interface StackPlace {
  readonly file: string;
  /** `12:5`, or `12` above the message of a syntax error. */
  readonly position: string;
}

/** Positions in files that a stack names, from its top, without the query of a module's URL. */
export function stackPlaces(stack: string): readonly StackPlace[] {
  return stack.slice(0, maxStackLength).split('\n').flatMap(placeIn);
}

const maxStackLength = 20_000;

/** Place in a line such as `    at async name (file:///srv/redact.js?v=1:12:5)` or `/srv/redact.cjs:12`. */
function placeIn(line: string): readonly StackPlace[] {
  const trimmed = line.trim();
  const isFrame = trimmed.startsWith('at ');
  const begin = isFrame ? trimmed.lastIndexOf('(') + 1 : 0;
  const place =
    begin > 0 ? trimmed.slice(begin, -1) : trimmed.slice(isFrame ? trimmed.lastIndexOf(' ') + 1 : 0);
  const position = (isFrame ? /:\d{1,9}:\d{1,9}$/ : /:\d{1,9}$/).exec(place)?.[0];
  if (position === undefined) return [];
  const named = place.slice(0, -position.length).split('?', 1)[0] ?? '';
  const file = named.startsWith('file:') ? pathOf(named) : named;
  return file.startsWith('/') || /^[A-Za-z]:\\/.test(file) ? [{ file, position: position.slice(1) }] : [];
}

function pathOf(url: string): string {
  return URL.canParse(url) ? fileURLToPath(url) : '';
}
