import type { Path } from '../../config/document.js';
import type { SchemaError } from '../../plugin/upstream/index.js';

/** A value that is not as expected. */
export interface Mismatch {
  /** Place of the expectation in the test file. */
  readonly at: Path;
  /** Path of the value in the outcome; empty: all of it. */
  readonly path: string;
  /** As written in the test: a value, or an object of matchers. */
  readonly expected: unknown;
  /** True if `expected` is an object of matchers. */
  readonly isRule: boolean;
  /** Undefined: absent. */
  readonly actual: unknown;
  readonly hint?: string;
}

/** Compares a value at a path of the outcome with a test's expectation. */
export type Check = (actual: unknown, path: string) => readonly Mismatch[];

/** Collects the problems of an expectation as written. */
export type Complain = (problem: SchemaError) => void;
