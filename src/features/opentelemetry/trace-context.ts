import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Ids of a span, as W3C Trace Context writes them. */
export interface SpanIds {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
}

/** Trace of a request: its own span, and the caller's if the headers name one. */
export interface TraceContext extends SpanIds {
  readonly parent: SpanIds | undefined;
  readonly isSampled: boolean;
  /** `tracestate` of the caller. */
  readonly state: string | undefined;
}

/** Max length of a propagated `tracestate`, the minimum of the specification. */
const maxStateLength = 512;

/**
 * Trace of a request: that of `traceparent` with its decision to sample, or a new one, of which `share` (0 to 1) are
 * sampled. An invalid `traceparent` counts as none.
 */
export function traceContextOf(headers: IncomingHttpHeaders, share: number): TraceContext {
  const spanId = randomId(8);
  const caller = callerIn(headers['traceparent']);
  if (!caller) {
    const traceId = randomId(16);
    return { traceId, spanId, parent: undefined, isSampled: isWithin(traceId, share), state: undefined };
  }
  const { tracestate } = headers;
  const isKept = typeof tracestate === 'string' && tracestate !== '' && tracestate.length <= maxStateLength;
  const { isSampled, ...parent } = caller;
  return { traceId: parent.traceId, spanId, parent, isSampled, state: isKept ? tracestate : undefined };
}

/** Span of the caller; undefined for a header that is missing or invalid. */
function callerIn(header: unknown): (SpanIds & { readonly isSampled: boolean }) | undefined {
  if (typeof header !== 'string') return undefined;
  const [, traceId, spanId, flags] = traceparent.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || isZero(traceId) || isZero(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags ?? '0', 16) & 1) === 1 };
}

/** Version 00, or a later one, which may add fields. */
const traceparent = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:$|(?<!^00.{53})-)/;

function isZero(id: string): boolean {
  return id.startsWith('0') && /^0+$/.test(id);
}

/** True for a share of the trace ids, the same ones in every process. */
function isWithin(traceId: string, share: number): boolean {
  return Number.parseInt(traceId.slice(-13), 16) / 16 ** 13 < share;
}

/** Headers by which a service continues the trace below one of its spans. */
export function contextHeaders(
  { traceId, isSampled, state }: TraceContext,
  spanId: string,
): Readonly<Record<string, string>> {
  const parent = { traceparent: `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}` };
  return state === undefined ? parent : { ...parent, tracestate: state };
}

/** Random id in hex, which is not all zeros. */
export function randomId(bytes: number): string {
  const digits = bytes * 2;
  if (used + digits > pool.length) {
    pool = randomBytes(poolBytes).toString('hex');
    used = 0;
  }
  const id = pool.slice(used, (used += digits));
  return isZero(id) ? randomId(bytes) : id;
}

/** Random digits for many ids: a system call for each one would cost more than the rest of its span. */
let pool = '';
let used = 0;
const poolBytes = 4096;
