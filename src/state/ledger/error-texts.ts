import { type StepResult } from '../step-result.js';

/** Texts of the errors of a failed request: short, without secrets and control characters. */
export interface ErrorTexts {
  /** Text of the error that the request ended with. */
  readonly text: string;
  /** Texts of failed upstream calls, in order, each with the index of its call in the trace. */
  readonly calls: readonly { readonly call: number; readonly text: string }[];
}

/** Error texts beside the ledger, which are kept for a shorter time than its rows. */
export interface ErrorTextStore {
  /** Texts by the ids of the rows; rows without any are left out. */
  find(
    rows: readonly { readonly atMs: number; readonly id: string }[],
  ): Promise<ReadonlyMap<string, ErrorTexts>>;
  /** Deletes the texts of at most `limit` requests from before `beforeMs`. */
  prune(beforeMs: number, limit: number): Promise<StepResult>;
}

/** Days that error texts are kept: a week, and no longer than the rows of the ledger. */
export function errorTextDays(keepDays: number): number {
  return Math.min(7, keepDays);
}
