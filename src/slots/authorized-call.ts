import type { SlotCall, UpstreamCall } from '../plugin/internal.js';

/**
 * Call with the proof of an account. Copies field by field: a spread would make the runtime look up each field in
 * every call.
 */
export function authorized(call: SlotCall, authorize: UpstreamCall['authorize']): UpstreamCall {
  const { request, headers, search, signal, headersTimeoutMs, idleTimeoutMs } = call;
  const { hasContent, addedTools, isWhole = true } = call;
  return hasContent
    ? {
        request,
        headers,
        search,
        signal,
        headersTimeoutMs,
        idleTimeoutMs,
        hasContent,
        addedTools,
        isWhole,
        authorize,
      }
    : { request, headers, search, signal, headersTimeoutMs, idleTimeoutMs, addedTools, isWhole, authorize };
}
