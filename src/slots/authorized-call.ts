import type { SlotCall, UpstreamCall } from '../plugin/internal.js';

/**
 * Call with the proof of an account. Copies field by field: a spread would make the runtime look up each field in
 * every call.
 */
export function authorized(call: SlotCall, authorize: UpstreamCall['authorize']): UpstreamCall {
  const { request, headers, search, signal, headersTimeoutMs, idleTimeoutMs } = call;
  const { hasContent, addedTools, isTranslated = false, isWhole = true } = call;
  const { profile, unsupported = 'report', report } = call;
  return {
    request,
    headers,
    search,
    signal,
    headersTimeoutMs,
    idleTimeoutMs,
    addedTools,
    isTranslated,
    isWhole,
    profile,
    unsupported,
    report,
    hasContent,
    authorize,
  };
}
