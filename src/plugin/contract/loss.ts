/** Part of a request that an upstream is not sent as the caller wrote it. */
export interface Loss {
  /** Place of it: `stop_sequences`, `messages[2].content[1]`, `tools[0].strict`. */
  readonly path: string;
  /**
   * `content`: text, an image, a turn. `setting`: a field, a tool, a constraint. `mend`: a change that keeps the
   * meaning, such as `items: {}` in a schema; never a reason to refuse the request.
   */
  readonly kind: 'content' | 'setting' | 'mend';
}

/** Options of a report: `reject` refuses the call where it holds more than mends. */
export interface LossOptions {
  readonly reject?: boolean;
}

/**
 * Reports what a call leaves out, by paths of the Messages request that it was given (a plain path is that of a
 * setting), before it is sent. Throws `invalid_request`, which names the caller's own paths, where losses are to be
 * rejected.
 */
export type ReportLosses = (losses: readonly (string | Loss)[], options?: LossOptions) => void;
