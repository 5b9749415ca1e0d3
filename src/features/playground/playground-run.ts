import type { Socket } from 'node:net';
import type { GivenRequest } from '../../operator/given-request.js';
import type { LedgerRow } from '../../state/ledger/contract.js';

/** Request of the playground; `as`: id of a key, or `master`. */
export interface PlaygroundCall extends GivenRequest {
  readonly as: string;
}

/** Step of a request of the playground. */
export type PlaygroundEvent =
  | { readonly type: 'start'; readonly data: { readonly request_id: string } }
  | { readonly type: 'progress'; readonly data: Progress }
  | { readonly type: 'head'; readonly data: AnswerHead }
  | { readonly type: 'data'; readonly data: { readonly text: string } }
  /** `row`: undefined if it reached no model. */
  | { readonly type: 'done'; readonly row: LedgerRow | undefined };

/** Stages and upstream calls so far. */
export interface Progress {
  readonly ms: number;
  readonly stages: readonly { readonly stage: string; readonly ms: number; readonly skipped: boolean }[];
  readonly calls: readonly { readonly slot: string; readonly ms: number; readonly code: string | null }[];
}

export interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Runs a request as a key; `signal` aborts it if its caller disconnects. Throws `not_found` and `invalid_request`.
 */
export type RunPlayground = (
  call: PlaygroundCall,
  peer: Socket,
  signal: AbortSignal,
) => Promise<AsyncIterable<PlaygroundEvent>>;
