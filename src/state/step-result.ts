/** Result of one step of a task that is done in small steps. */
export interface StepResult {
  /** True if nothing is left for another step. */
  readonly isDone: boolean;
}

/** Result of a step that handled `count` items, of at most `limit`: fewer were the last ones. */
export function stepResult(count: number | bigint, limit: number): StepResult {
  return { isDone: count < limit };
}
