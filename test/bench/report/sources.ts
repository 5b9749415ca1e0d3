import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Function of a profile; its place is that in the file that runs, from 0. */
export interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

interface Place {
  /** Path of the source file, or the URL of a file without a path. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

/** Places in the source of what a profile has seen, by the source maps beside the files that ran. */
export class Sources {
  readonly #maps = new Map<string, SourceMap | undefined>();

  /** The place itself where there is no source map. */
  placeOf({ url, lineNumber, columnNumber }: CallFrame): Place {
    if (!url.startsWith('file:')) return { file: url, line: lineNumber + 1 };
    const path = fileURLToPath(url);
    const entry = this.#mapOf(path)?.findEntry(lineNumber, columnNumber);
    if (!entry || !('originalSource' in entry)) return { file: path, line: lineNumber + 1 };
    return { file: resolve(dirname(path), entry.originalSource), line: entry.originalLine + 1 };
  }

  #mapOf(path: string): SourceMap | undefined {
    if (!this.#maps.has(path)) this.#maps.set(path, readMap(`${path}.map`));
    return this.#maps.get(path);
  }
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload); // a compiler has written it
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
