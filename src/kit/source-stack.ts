import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { growingCache } from './growing-cache.js';
import { programUrl } from './package-files.js';

/** Source positions by those of the program; the maps themselves, which are large, are read for each new one. */
const known = growingCache<string>(2000);

const program = programUrl('').href;

/**
 * A stack with source positions in place of those of the built program. Maps only displayed stacks, since
 * `--enable-source-maps` reads the map of every module.
 */
export function sourceStack(stack: string): string {
  if (!stack.includes(program)) return stack;
  const maps = new Map<string, SourceMap | undefined>();
  return stack.replaceAll(/file:\/\/\/[^\s():?]+\.js:\d+:\d+/g, (place) => {
    if (!place.startsWith(program)) return place;
    const source = known.get(place) ?? sourceOf(place, maps);
    known.set(place, source);
    return source;
  });
}

function sourceOf(place: string, maps: Map<string, SourceMap | undefined>): string {
  const [, url = '', line, column] = /^(.*):(\d+):(\d+)$/.exec(place) ?? [];
  const file = fileURLToPath(url);
  if (!maps.has(file)) maps.set(file, readMap(`${file}.map`));
  const origin = maps.get(file)?.findOrigin(Number(line), Number(column));
  if (origin === undefined || !('fileName' in origin)) return place;
  return `${path.resolve(path.dirname(file), origin.fileName)}:${origin.lineNumber}:${origin.columnNumber}`;
}

/** Undefined for a module without a map, as in a package that was installed without. */
function readMap(file: string): SourceMap | undefined {
  if (!existsSync(file)) return undefined;
  return new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload); // as a step of the build wrote it
}
