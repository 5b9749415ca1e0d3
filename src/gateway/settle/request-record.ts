import type { Outcome, Trace, Usage } from '../../plugin/index.js';
import type { StagePlace } from '../../plugin/core.js';

/** Log record of one request, made when its response has closed. Never a body, never a secret. */
export interface RequestRecord {
  /** The request's id, as in its other log lines. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: string;
  readonly format: string;
  readonly status: number;
  readonly outcome: Outcome;
  readonly ms: number;
  /** Address of the caller. */
  readonly client: string;
  /** Time from the arrival to the first event of the answer, and to its first content. */
  readonly firstEventMs: number | undefined;
  readonly firstTokenMs: number | undefined;
  /** Time from the first to the last event of a complete answer. */
  readonly outputMs: number | undefined;
  /** Time that the upstream calls have waited for places in slots. */
  readonly queueMs: number;
  readonly key: string | undefined;
  /** Requested model. */
  readonly model: string | undefined;
  /** Model that answered, if it is another one. */
  readonly answeredBy: string | undefined;
  readonly slot: string | undefined;
  readonly attempts: number | undefined;
  /** Every upstream call, with the code of its failure; the last may be in progress. */
  readonly calls: readonly Pick<Trace['calls'][number], 'slot' | 'model' | 'ms' | 'code' | 'billed'>[];
  /** The code of the upstream's failure that broke off an answer after it had begun. */
  readonly brokenBy: string | undefined;
  readonly delivery: string | undefined;
  readonly billed: Usage;
  readonly masked: Usage;
  /** The code of the error that was the answer, or that broke it off. */
  readonly code: string | undefined;
  /** Stage that the request was waiting for when its response closed, and the stage's own time until then. */
  readonly waitingFor: { readonly place: StagePlace; readonly ms: number } | undefined;
  /** The upstream's own name for the request. */
  readonly upstreamRequestId: string | undefined;
}

export const kindsOfTokens = ['input', 'cache_read', 'cache_write', 'output'] as const;

/** The four counts that cost money; -1 from some upstreams means unknown. */
export function tokensOf(usage: Usage): Readonly<Record<(typeof kindsOfTokens)[number], number>> {
  return {
    input: Math.max(0, usage.input_tokens ?? 0),
    cache_read: Math.max(0, usage.cache_read_input_tokens ?? 0),
    cache_write: Math.max(0, usage.cache_creation_input_tokens ?? 0),
    output: Math.max(0, usage.output_tokens ?? 0),
  };
}
