import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Mocha from 'mocha';

/**
 * Module that mocha requires: errors of tests name the lines of the sources. Only those that are shown are mapped, for
 * `--enable-source-maps` reads the map of every module.
 */
const runner = Mocha.Runner.prototype as unknown as Failing; // its types call the method protected
const { fail } = runner;
runner.fail = function (runnable, error, ...rest) {
  if (error instanceof Error && error.stack !== undefined) error.stack = mapped(error.stack);
  return fail.call(this, runnable, error, ...rest);
};

interface Failing {
  fail: (this: unknown, runnable: unknown, error: unknown, ...rest: readonly unknown[]) => unknown;
}

const maps = new Map<string, SourceMap | undefined>();

/** A stack with the places of sources in place of those of the build. */
export function mapped(stack: string): string {
  return stack.replaceAll(/(file:\/\/\/[^\s():]+\.js):(\d+):(\d+)/g, (whole, url: string, line, column) => {
    const file = fileURLToPath(url);
    const origin = mapOf(file)?.findOrigin(Number(line), Number(column));
    if (origin === undefined || !('fileName' in origin)) return whole;
    return `${path.resolve(path.dirname(file), origin.fileName)}:${origin.lineNumber}:${origin.columnNumber}`;
  });
}

function mapOf(file: string): SourceMap | undefined {
  if (!maps.has(file)) maps.set(file, readMap(`${file}.map`));
  return maps.get(file);
}

function readMap(file: string): SourceMap | undefined {
  if (!existsSync(file)) return undefined;
  return new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload); // as the compiler wrote it
}
