import { call } from '../../../console/web/api/call.js';
import type { Explanation } from '../explanation.js';

/** A request to explain; null: without a key. */
export interface ExplainCall {
  readonly post: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly as: string | null;
}

export const fetchExplanation = (request: ExplainCall) =>
  call<Explanation>('POST', '/explain', { body: request });
