/** Part of a request that an upstream does not get as the caller wrote it. */
export interface Loss {
  /** Its place: `stop_sequences`, `messages[2].content[1]`, `tools[0].strict`. */
  readonly path: string;
  /**
   * Kind of a loss. `content`: text, an image, a turn; `setting`: a field, a tool, a constraint; `mend`: a change that
   * keeps the meaning, such as `items: {}` in a schema, and never a reason to refuse the request.
   */
  readonly kind: 'content' | 'setting' | 'mend';
}

/** Options of a report: `reject` refuses the call if a loss is `content` or a `setting`. */
export interface LossOptions {
  readonly reject?: boolean;
}

/**
 * Reports the omissions of a call before it is sent, by paths of its Messages request (a plain path is that of a
 * setting). Throws `invalid_request`, which names the caller's own paths, if losses are to be rejected.
 */
export type ReportLosses = (losses: readonly (string | Loss)[], options?: LossOptions) => void;
