import type { SlotCall } from '../../../plugin/index.js';
import type { UpstreamCall } from '../../../plugin/upstream/index.js';

/**
 * Call with the proof of an account. Copies field by field: a spread would make the runtime look up each field in
 * every call.
 */
export function authorized(call: SlotCall, authorize: UpstreamCall['authorize']): UpstreamCall {
  const { request, headers, search, signal, headersTimeoutMs, idleTimeoutMs, hasContent } = call;
  const {
    addedSystem,
    addedTools,
    addedMarkers,
    addedLimit,
    moved,
    isWhole = true,
    isTranslated = false,
    profile,
    stickyKey,
  } = call;
  const { unsupported = 'report', report, without, progress } = call;
  return {
    request,
    headers,
    search,
    signal,
    headersTimeoutMs,
    idleTimeoutMs,
    hasContent,
    addedSystem,
    addedTools,
    addedMarkers,
    addedLimit,
    moved,
    isWhole,
    isTranslated,
    stickyKey,
    profile,
    unsupported,
    report,
    without,
    progress,
    authorize,
  };
}
