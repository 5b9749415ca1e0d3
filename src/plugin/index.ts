/** `@gw2api/gateway/plugin`: the public API of stages. */
export { isAttribution, withSystemBlock } from './stage/attribution.js';
export { withoutContextSuffix } from './stage/answering-model.js';
export { cacheMarkers, mapCacheMarkers, markLastBlock, maxCacheMarkers } from './stage/cache-markers.js';
export { callerClaims } from './caller/caller-claims.js';
export { callerKey, sendsKey } from './caller/caller-key.js';
export { callerOfKey, masterCaller } from './caller/caller-of-key.js';
export { makeCaller } from './caller/make-caller.js';
export type { CallerFields } from './caller/make-caller.js';
export { systemClock, timeoutSignal } from '../kit/time/clock.js';
export type { Clock } from '../kit/time/clock.js';
export type { Caller, CallerClaims } from './contract/caller.js';
export { definePlugin } from './contract/define.js';
export type { Plugin } from './contract/define.js';
export type { Format, ReplyEncoder } from './contract/format.js';
export type { Host } from './contract/host.js';
export type { CallSupport, HostCallOptions, StageCall } from './contract/host-call.js';
export type {
  PluginEventListener,
  PluginEventMap,
  PluginEventName,
  PluginEvents,
  ReloadEvent,
  SettledRequest,
  SlotStateEvent,
} from './contract/events.js';
export { keyLimits, windowLimits } from './contract/protocol-key.js';
export type { KeyLimits } from './contract/protocol-key.js';
export type { Json } from './contract/live.js';
export type { Loss } from './contract/loss.js';
export type { Logger } from './contract/telemetry.js';
export type {
  BlockOf,
  ContentBlock,
  Delta,
  EventOf,
  Message,
  MessagesRequest,
  MessagesResponse,
  MessagesStreamEvent,
  OutputConfig,
  StopReason,
  TextBlock,
  Tool,
  ToolChoice,
  Usage,
} from './contract/messages.js';
export type { CatalogModel, Models } from './contract/models.js';
export type { Operation } from './contract/state.js';
export type { CallProgress, ProgressReceiver, Slot, SlotCall, TokenCount } from './contract/slot/slot.js';
export type { Candidate, PickPolicy, SlotLease, SlotPicker } from './contract/slot/slots.js';
export type {
  Additions,
  Count,
  GatewayState,
  Intercept,
  ModelCall,
  ModelReply,
  Outcome,
  StageContext,
} from './contract/state.js';
export type { ProtocolKey } from './contract/protocol-key.js';
export type { ResponseQuota } from './contract/store.js';
export type { CallTimer, Trace } from './contract/trace.js';
export {
  changedError,
  forCaller,
  forOperator,
  GatewayError,
  isGatewayError,
  toGatewayError,
  withHeaders,
  withoutRefusal,
} from './contract/error.js';
export type { ErrorCode } from './contract/error.js';
export { estimateTokens } from './stage/estimate.js';
export { globMatcher } from '../kit/glob.js';
export { committed } from './events/commit.js';
export type { CommitOptions } from './events/commit.js';
export { continuePausedTurns } from './events/continuation.js';
export { EventStream } from './events/stream/event-stream.js';
export { ModelEvent } from './events/events.js';
export type { ModelEventBatch, ModelEvents } from './events/events.js';
export { FirstContent } from './events/first-content.js';
export { foldMessage, mergeUsage } from './events/fold.js';
export { hold } from './events/hold.js';
export type { HeldReply, HoldOptions } from './events/hold.js';
export { ledgerTokens, totalTokens } from './events/ledger-tokens.js';
export { mapEvents } from './events/map-events.js';
export type { EventMap } from './events/map-events.js';
export { mapText, TextMapper } from './events/text/map-text.js';
export type { Transform } from './events/stream/stream-step.js';
export type { TextMap } from './events/text/text-window.js';
export { textReply } from './events/text/text-reply.js';
export { maskedPart } from './events/usage.js';
export { addUsage, usageBody, usageMeter } from './events/usage.js';
export { asForcedTool, isForcedTool } from './stage/tool-choice.js';
export { formatContext } from './format/format-context.js';
export { skippable } from './stage/skippable.js';
export { wrapCall } from './stage/interceptors.js';
export { allExtras, extrasOf, withAllExtras, withExtras } from './stage/extras.js';
export type { Extras, PlacedExtras } from './stage/extras.js';
export { lossReport, reportDropped, reportLosses } from './losses/loss-report.js';
export type { TlsSettings } from './contract/slot/tls.js';
export { externalFetch } from './http/external-fetch.js';
export { headerChoice } from './http/header-choice.js';
export { answerHeaders, forwardedHeaders, longContextBeta } from './http/headers.js';
export { isLoopback } from '../kit/networks.js';
export { parseJson } from './http/parse-json.js';
export { bodyAborted, bodyTooLarge, readBytes } from './http/read-bytes.js';
export { sseBody } from './http/sse-body.js';
export { readTlsFiles, TlsFiles } from './http/tls-files.js';
export { LimitMeters } from './limits/limit-meters.js';
export { limitWindow } from './limits/limit-window.js';
export type { LimitWindow } from './limits/limit-window.js';
export { makeFolder } from '../kit/make-folder.js';
export { mayUseModel } from './caller/model-access.js';
export { namedLimit } from './caller/named-limit.js';
export { withFields } from './raw/with-fields.js';
export { excessOf, hasMoreValues } from '../kit/schema/json-values.js';
export type { JsonBounds } from '../kit/schema/json-values.js';
export { Type } from 'typebox';
export { Duration, Size, durationMs, sizeBytes } from '../kit/schema/units.js';
export { defaultStickyFrom, sessionName, stickyKey } from './caller/sticky.js';
export { toolLoop } from './stage/tool-loop.js';
export type { ToolLoop } from './stage/tool-loop.js';
