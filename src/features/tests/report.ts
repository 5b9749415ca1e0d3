import type { Position } from '../../config/config.js';

/** Result of all tests. */
export interface TestReport {
  readonly results: readonly TestResult[];
  /** Tests that were not run because of another one with `only`. */
  readonly leftOut: number;
  /** Expected values that have been written instead of `snapshot`. */
  readonly written: number;
  /** Sentences about the run as a whole, such as placeholders instead of secrets. */
  readonly warnings: readonly string[];
  /** Wall-clock time. */
  readonly durationMs: number;
}

export interface TestResult {
  readonly name: string;
  /** Place of the test. */
  readonly at: Position;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Reason of a test that is skipped. */
  readonly reason?: string;
  /** Wall-clock time. */
  readonly durationMs: number;
  readonly failures: readonly TestFailure[];
  /** Named pipeline whose test it is; absent: it is one of the config. */
  readonly pipeline?: string;
}

/** One failed expectation, or a fault that ended the test. */
export interface TestFailure {
  /** Place of the expectation; of the test or its request for a fault. */
  readonly at: Position;
  /** Path in the file, such as `tests[0].requests[1].expect.slot`. */
  readonly place: string;
  /** The fault, or a hint. */
  readonly message?: string;
  /** The value that is not as expected; absent for a fault. */
  readonly value?: {
    /** Path in the outcome, such as `answer.choices[0].message.content`. */
    readonly path: string;
    readonly expected: unknown;
    /** True if `expected` is an object of matchers. */
    readonly isRule: boolean;
    /** Undefined: absent. */
    readonly actual: unknown;
  };
}

/** Number of results with a status. */
export function countOf({ results }: TestReport, status: TestResult['status']): number {
  return results.filter((result) => result.status === status).length;
}
