import { fileURLToPath } from 'node:url';

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
