import Mocha from 'mocha';
import { sourceStack } from '#src/kit/source-stack.js';

/** Module that mocha requires: errors of tests name the lines of the sources. */
const runner = Mocha.Runner.prototype as unknown as Failing; // its types call the method protected
const { fail } = runner;
runner.fail = function (runnable, error, ...rest) {
  if (error instanceof Error && error.stack !== undefined) error.stack = sourceStack(error.stack);
  return fail.call(this, runnable, error, ...rest);
};

interface Failing {
  fail: (this: unknown, runnable: unknown, error: unknown, ...rest: readonly unknown[]) => unknown;
}
