import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { stackPlaces, type StackPlace } from '../../../trace/plugin-place.js';
import { within } from '../../../../kit/time/within.js';
import { isWithin, PluginFiles } from './plugin-files.js';

/** Message and position of an error that a module threw while it was loaded: `x is not defined (redact.js:3:7)`. */
export async function importFault(
  error: unknown,
  file: string | undefined,
  baseDir: string,
): Promise<string> {
  const words = (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
  if (file === undefined) return words;
  const place = placeOf(error, path.dirname(file)) ?? (await syntaxPlace(error, file));
  if (!place) return words;
  const relative = path.relative(baseDir, place.file);
  return `${words} (${relative.startsWith('..') ? place.file : relative}:${place.position})`;
}

/** First position of a stack in a folder: above the message, as for syntax errors, or in a frame. */
function placeOf(error: unknown, folder: string): StackPlace | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  return stackPlaces(stack).find(({ file }) => isWithin(file, folder));
}

/** Position of a syntax error in the files of a plugin: Node reports it only for an uncaught error. */
async function syntaxPlace(fault: unknown, file: string): Promise<StackPlace | undefined> {
  if (!(fault instanceof SyntaxError)) return undefined;
  const files = new PluginFiles()
    .list(file, path.dirname(file))
    .filter((one) => /\.[cm]?[jt]s$/.test(one) && !one.endsWith('.cjs'));
  const thrown: unknown = await parseInWorker(files).catch(noPlace);
  return placeOf(thrown, path.dirname(file));
}

/** Parses modules, without running them, in a thread of its own; resolves with the first error. */
async function parseInWorker(files: readonly string[]): Promise<unknown> {
  const execArgv = ['--experimental-vm-modules', '--no-warnings'];
  const worker = new Worker(parser, { eval: true, execArgv, workerData: files });
  try {
    const ended = new Promise((resolve) => worker.once('error', resolve).once('exit', resolve));
    return await within(ended, parseMs, 'has not been parsed');
  } finally {
    await worker.terminate();
  }
}

const parseMs = 5000;

const parser = `
  const { workerData } = require('node:worker_threads');
  const { SourceTextModule } = require('node:vm');
  const { readFileSync } = require('node:fs');
  const { stripTypeScriptTypes: strip = (text) => text } = require('node:module');
  for (const file of workerData) {
    const text = readFileSync(file, 'utf8');
    new SourceTextModule(/\\.[cm]?ts$/.test(file) ? strip(text) : text, { identifier: file });
  }`;

/** No position, for a plugin that is reported by its message alone. */
const noPlace = (): undefined => undefined;
