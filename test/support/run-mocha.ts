import path from 'node:path';
import { pathToFileURL } from 'node:url';

const program = path.resolve('node_modules/mocha/bin/mocha.js');

/** Arguments of a program that runs mocha without the config of `npm test`. */
export function mochaCommand(args: readonly string[]): readonly string[] {
  const stacks = path.resolve('build/test/support/source-stacks.js');
  return [program, '--no-config', '--timeout', '60000', '--require', stacks, '--exit', ...args];
}

/** Runs mocha in this process, which then ends with its code. */
export async function runMocha(args: readonly string[]): Promise<void> {
  process.argv.splice(1, Infinity, ...mochaCommand(args));
  await import(pathToFileURL(program).href);
}
