import { isDeepStrictEqual } from 'node:util';
import { RE2JS } from 're2js';
import type { Path } from '../../config/document.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import { isRecord } from '../../kit/schema/record.js';
import type { Check, Complain } from './mismatch.js';
import type { Shape } from './outcome-shape.js';

/** Argument of a matcher, its place, and its subject. */
interface Given {
  readonly argument: unknown;
  readonly at: Path;
  readonly shape: Shape;
  readonly complain: Complain;
  /** Compiles an expectation within the argument. */
  readonly compile: (value: unknown, at: Path, shape: Shape) => Check;
}

type Holds = (actual: unknown) => boolean;

/** Matchers by name: each compiles its argument, and reports one that it cannot take. */
export const matchers: Readonly<Record<string, (given: Given) => Holds>> = {
  matches: (given) => {
    const pattern = compiled(given);
    return (actual) => typeof actual === 'string' && pattern?.matcher(actual).find() === true;
  },
  contains: ({ argument, at, shape, complain, compile }) => {
    if (shape === 'plain' && typeof argument !== 'string')
      complain({
        path: at,
        message: 'must be a text; for several, write { all: [{ contains: a }, { contains: b }] }',
      });
    const inner = compile(argument, at, itemsOf(shape));
    return (actual) => {
      if (typeof actual === 'string') return typeof argument === 'string' && actual.includes(argument);
      if (Array.isArray(actual)) return actual.some((item) => inner(item, '').length === 0);
      return isRecord(actual) && typeof argument === 'string' && Object.hasOwn(actual, argument);
    };
  },
  not: ({ argument, at, shape, complain, compile }) => {
    complainOfTypo(argument, at, complain);
    const inner = compile(argument, at, shape);
    return (actual) => inner(actual, '').length > 0;
  },
  any: (given) => {
    const inner = compileEach(given);
    return (actual) => inner.some((check) => check(actual, '').length === 0);
  },
  all: (given) => {
    const inner = compileEach(given);
    return (actual) => inner.every((check) => check(actual, '').length === 0);
  },
  above: (given) => {
    const limit = numberIn(given);
    return (actual) => typeof actual === 'number' && actual > limit;
  },
  below: (given) => {
    const limit = numberIn(given);
    return (actual) => typeof actual === 'number' && actual < limit;
  },
  between: ({ argument, at, complain }) => {
    const [low, high] = Array.isArray(argument) ? (argument as readonly unknown[]) : [];
    const isRange = typeof low === 'number' && typeof high === 'number' && low <= high;
    if (!isRange) complain({ path: at, message: 'must be two numbers such as [1, 9], both included' });
    return (actual) => typeof actual === 'number' && isRange && actual >= low && actual <= high;
  },
  absent: ({ argument, at, complain }) => {
    if (typeof argument !== 'boolean') complain({ path: at, message: 'must be true or false' });
    return (actual) => (actual === undefined) === argument;
  },
  length: ({ argument, at, complain, compile }) => {
    const isNumber = typeof argument === 'number' || isRecord(argument);
    if (!isNumber) complain({ path: at, message: 'must be a number, or a matcher such as { above: 0 }' });
    const inner = compile(argument, at, 'plain');
    return (actual) => {
      const length = lengthOf(actual);
      return length !== undefined && inner(length, '').length === 0;
    };
  },
  equal:
    ({ argument }) =>
    (actual) =>
      isDeepStrictEqual(actual, argument),
};

/** Names of the matchers, for messages. */
export const matcherNames: readonly string[] = Object.keys(matchers);

/** Rejects misspelt matchers in a "not", where they would be a missing key that matches anything. */
function complainOfTypo(argument: unknown, at: Path, complain: Complain): void {
  const names = isRecord(argument) ? Object.keys(argument) : [];
  if (names.some((name) => Object.hasOwn(matchers, name))) return;
  for (const name of names) {
    const meant = didYouMean(name, matcherNames);
    const message = `is not a matcher; did you mean "${meant}"? For a key of that name write "equal"`;
    if (meant !== undefined) complain({ path: [...at, name], message });
  }
}

function compiled({ argument, at, complain }: Given): RE2JS | undefined {
  if (typeof argument !== 'string') {
    complain({ path: at, message: 'must be a regular expression in the syntax of RE2' });
    return undefined;
  }
  try {
    return RE2JS.compile(argument);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    complain({ path: at, message: `is not a regular expression in the syntax of RE2: ${reason}` });
    return undefined;
  }
}

function compileEach({ argument, at, shape, complain, compile }: Given): readonly Check[] {
  const items: readonly unknown[] = Array.isArray(argument) ? argument : [];
  if (items.length === 0) complain({ path: at, message: 'must be a list of allowed values' });
  return items.map((item, index) => compile(item, [...at, index], shape));
}

function numberIn({ argument, at, complain }: Given): number {
  if (typeof argument === 'number' && !Number.isNaN(argument)) return argument;
  complain({ path: at, message: 'must be a number' });
  return NaN;
}

/** Shape of the contents of a text, list or object. */
function itemsOf(shape: Shape): Shape {
  return typeof shape === 'object' && 'items' in shape ? shape.items : shape === 'plain' ? 'plain' : 'json';
}

/** Characters of a text, items of a list, keys of an object. */
function lengthOf(value: unknown): number | undefined {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  return isRecord(value) ? Object.keys(value).length : undefined;
}
