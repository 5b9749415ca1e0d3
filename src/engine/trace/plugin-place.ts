import { fileURLToPath } from 'node:url';
import { stackPlaces } from '../../kit/stack-places.js';

/** Folder of the gateway's own modules. */
const ours = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Position in a plugin that an error comes from, `/srv/my-plugins/redact.js:12:5`: the first stack frame that
 * is not the gateway's, not Node's and, if there is another, not a package's. Undefined if the stack has
 * none.
 */
export function pluginPlace(error: unknown): string | undefined {
  const stack = typeof error === 'object' && error !== null ? readProperty(error, 'stack') : undefined;
  if (typeof stack !== 'string') return undefined;
  const places = stackPlaces(stack)
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
  return !place.startsWith(ours) || place.startsWith(`${ours}plugins/`);
}
