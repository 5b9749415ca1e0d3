import type { Attributes } from '@opentelemetry/api';
import type { LedgerRow } from '../../state/ledger/contract.js';
import type { MessagesRequest } from '../../plugin/index.js';
import type { TracedCall } from '../../engine/trace/upstream-call-timer.js';
import type { TracedStage } from '../../engine/trace/stage-clock.js';
import type { RequestRecord } from '../../gateway/settle/request-record.js';
import type { SpanIds, TraceContext } from './trace-context.js';

/** Slot of an upstream call. */
export interface TracedSlot {
  /** Kind of its upstream. */
  readonly kind: string;
  /** Preset of `upstream: chat`. */
  readonly preset: string | undefined;
  readonly baseUrl: string | undefined;
}

/** A request whose response has closed. */
export interface TracedRequest {
  readonly context: TraceContext;
  readonly record: RequestRecord;
  /** Start and end of the request, of its stages and of its calls: milliseconds of `performance.now()`. */
  readonly beganMs: number;
  readonly endedMs: number;
  readonly stages: readonly TracedStage[];
  readonly calls: readonly TracedCall[];
  /** Call that a stage made during the request; absent: the request itself. */
  readonly call?: { readonly label: string; readonly stage: string };
  /** Matched route, without the values of its parameters. */
  readonly route: string;
  /** Request as the last call sent it. */
  readonly sent: MessagesRequest | undefined;
  readonly row: LedgerRow | undefined;
  readonly slotOf: (id: string) => TracedSlot | undefined;
}

/** One span, with its times as `TracedRequest` has them. */
export interface SpanData extends SpanIds {
  readonly parent: SpanIds | undefined;
  /** `tracestate` of the trace, which all its spans have. */
  readonly state: string | undefined;
  readonly name: string;
  readonly kind: 'server' | 'internal' | 'client';
  readonly beganMs: number;
  readonly endedMs: number;
  readonly attributes: Attributes;
  /** Code of the error that it ended with. */
  readonly error: string | undefined;
}
