export { AddressMeters } from './limits/address-meters.js';
export type { AddressMetersOptions } from './limits/address-meters.js';
export { CallController } from './http/call-controller.js';
export type { CallSignal } from './http/call-signal.js';
export { callerKey } from './caller-key.js';
export { fromByteText, toByteText } from './raw/byte-text.js';
export type { ByteText } from './raw/byte-text.js';
export { BatchSource, openSource } from './events/batch-source.js';
export type { BatchReader } from './events/batch-source.js';
export { cacheMarkers, mapCacheMarkers, maxCacheMarkers } from './cache-markers.js';
export { compileCheck, formatPath } from './schema/check.js';
export type { CheckOptions, Mismatch } from './schema/check.js';
export { committed } from './events/commit.js';
export type { CommitOptions } from './events/commit.js';
export { continuePausedTurns } from './events/continuation.js';
export { Deadline } from './limits/deadline.js';
export { definePlugin, normalizePlugin } from './contract/define.js';
export type {
  Plugin,
  PluginDefinition,
  StageContext,
  StageMiddleware,
  StageState,
} from './contract/define.js';
export { didYouMean } from './schema/did-you-mean.js';
export { dispatch } from './dispatch.js';
export type { DispatchTable } from './dispatch.js';
export { GatewayError, errorCodes, isGatewayError, toGatewayError, withHeaders } from './error.js';
export type { CallFailure, ErrorCode, GatewayErrorOptions } from './error.js';
export { reportDropped } from './http/dropped-header.js';
export { estimateTokens } from './estimate.js';
export { ModelEvent } from './events/events.js';
export type { ModelEventBatch, ModelEvents } from './events/events.js';
export { mapEvents, tapEvents } from './events/map-events.js';
export type { EventMap } from './events/map-events.js';
export { FirstContent } from './events/first-content.js';
export { MessageFold, foldMessage, mergeUsage } from './events/fold.js';
export { formatContext } from './format-context.js';
export type { Decoded, Format, FormatContext, ReplyEncoder } from './contract/format.js';
export { globMatcher } from './glob.js';
export { headerChoice } from './http/header-choice.js';
export {
  answerHeaders,
  defaultAnthropicVersion,
  forwardedHeaders,
  isHeaderValue,
  isRequestHeader,
} from './http/headers.js';
export type * from './contract/host.js';
export type * from './contract/logger.js';
export type * from './contract/metrics.js';
export type * from './contract/models.js';
export type * from './contract/operation.js';
export { joinBytes } from './raw/join-bytes.js';
export { hasMoreValues } from './schema/json-values.js';
export { keyLimits, tokenLimits } from './contract/key-limits.js';
export type { KeyLimits, TokenLimit } from './contract/key-limits.js';
export { ledgerTokens, totalTokens } from './events/ledger-tokens.js';
export type * from './contract/ledger.js';
export type * from './contract/live.js';
export type * from './contract/messages.js';
export { mayUseModel } from './model-access.js';
export { namedLimit } from './named-limit.js';
export type { NamedLimit } from './named-limit.js';
export { parseInPieces } from './raw/parse-in-pieces.js';
export { isTooDeep, parseJson } from './http/parse-json.js';
export type * from './contract/slot.js';
export type * from './contract/slots.js';
export { withoutRootRef } from './schema/schema-refs.js';
export { cutShort, readBytes, tooLarge } from './http/read-bytes.js';
export { samplingOf } from './sampling.js';
export { sendTo, sseBody } from './http/sse-body.js';
export type { DirectBody, SseBodyOptions } from './http/sse-body.js';
export type { SsePiece } from './http/sse-piece.js';
export { coreKeys } from './contract/state.js';
export type * from './contract/state.js';
export { plainDeltaEnd } from './raw/plain-delta.js';
export type { PlainDelta } from './raw/plain-delta.js';
export { stickyKey } from './sticky.js';
export type * from './contract/store.js';
export { strictSchema } from './schema/strict-schema.js';
export type { StrictSchema } from './schema/strict-schema.js';
export { TokenMeters, tokenWindow } from './limits/token-meters.js';
export type { TokenWindow } from './limits/token-meters.js';
export { Type } from './schema/type.js';
export { Duration, Size, Time, durationMs, sizeBytes, timeMs } from './schema/units.js';
export { errorFromEvent, interruptedError } from './events/upstream-error.js';
export { addUsage, usageBody, usageMeter } from './events/usage.js';
export { requestBytes } from './raw/verbatim.js';
export { withFields } from './raw/with-fields.js';
export { LateError, within } from './limits/within.js';
export { WireText } from './raw/wire.js';
export type { WireLines } from './raw/wire.js';
