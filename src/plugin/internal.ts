/** Everything that `src` uses of this folder; not public. */
export * from './index.js';
export * from './format/index.js';
export * from './upstream/index.js';
export * from './raw/index.js';
export { accountRefused } from './contract/error.js';
export { errorWithout } from './events/hide-secrets.js';
export { holdsContractKey, requireMasterKey, sentKey } from './caller/caller-key.js';
export { callerMatcher, isForeign, reservedNames } from './caller/caller-patterns.js';
export type { Actor, Role } from '../state/store/contract/actor.js';
export { accountFields, normalizeAccount } from './contract/account.js';
export type { RefusedAnswer } from './contract/account.js';
export { normalizePlugin, stageFields } from './contract/define.js';
export { checkDefinition } from './contract/definition.js';
export type { AdminToken, AdminTokens } from '../state/store/contract/admin-token.js';
export type {
  AuditActor,
  AuditEntry,
  AuditFilter,
  AuditLog,
  AuditOutcome,
  AuditPage,
} from '../state/store/contract/audit.js';
export type { Subject } from './contract/store.js';
export { isSamePerson } from '../state/store/contract/same-person.js';
export { maxSlotChanges } from '../state/store/contract/slot-history.js';
export type { SlotChange, SlotHistory, WindowSample } from '../state/store/contract/slot-history.js';
export { definitionFault } from './contract/definition.js';
export type { ApiLevel, Fields } from './contract/definition.js';
export { formatFields, normalizeFormat } from './contract/format.js';
export { normalizeUpstream, upstreamFields } from './contract/upstream.js';
export type { ErrorTexts, ErrorTextStore } from '../state/ledger/error-texts.js';
export { latencyMeasures, RefusedRowsError } from '../state/ledger/contract.js';
export type {
  LatencyMeasure,
  LatencySum,
  Percentiles,
  AppendedRow,
  CacheCause,
  CacheLoss,
  Ledger,
  LedgerAddition,
  LedgerCost,
  LedgerFilter,
  LedgerPage,
  LedgerRow,
  LedgerTokens,
  LedgerTrace,
  UsageGroup,
  UsageQuery,
  UsageSum,
} from '../state/ledger/contract.js';
export type { Price } from './contract/models.js';
export type {
  ClaimOptions,
  Claims,
  Live,
  Messages,
  MeterReading,
  Meters,
  Permits,
  SharedMap,
} from './contract/live.js';
export type {
  ContentBlockStopEvent,
  ErrorEvent,
  MessageStartEvent,
  MessageStopEvent,
  PingEvent,
} from './contract/messages.js';
export type { CallerTeam } from './contract/caller.js';
export type { CacheStats, Caches, Metrics } from './contract/metrics.js';
export { tapEvents } from './events/map-events.js';
export { MessageMender } from './events/mend/message-mender.js';
export type { Secrets } from './contract/host.js';
export type { CoolReason, SessionMove, SlotState } from './contract/slot.js';
export { coreKeys } from './contract/state.js';
export type { CallOptions, CoreKey, Interceptor } from './contract/state.js';
export type { StageMeter, StagePlace } from './contract/trace.js';
export { checkReply } from './stage/check-reply.js';
export { contextView, originalContext, type AnyContext } from '../engine/pipeline/stage/context-view.js';
export { strictParts } from '../engine/pipeline/stage/strict-stage.js';
export { joining, noInterceptors } from './stage/interceptors.js';
export type { FailoverTerms, PickedCall, PickTerms, Slots } from './contract/slots.js';
export type { FormerSecret, KeyPatch, KeySecret } from './contract/protocol-key.js';
export type {
  Binding,
  ConsoleSession,
  Expiring,
  ResponseTotal,
  SpaceEntry,
  SpaceQuery,
  Spaces,
  StateChange,
  StoredSlot,
  StoredState,
  Team,
  TeamPatch,
  WholeStore,
} from './contract/store.js';
export { errorCodes } from './contract/error.js';
export { isErrorCode } from '../kit/error-code.js';
export { CallController } from './http/call-controller.js';
export { connectionKey, connectionOf } from './format/connection.js';
export type { Connection } from './format/connection.js';
export { defaultMaxBodyBytes } from './format/format-context.js';
export { ownSignal } from '../kit/call-signal.js';
export { maxTags, tagNamePattern } from '../engine/trace/usage-tags.js';
export { modelRefusal, namesIn } from './caller/model-access.js';
export { maxNameLength, partsOf, shorterForms, shortName } from '../engine/models/name-parts.js';
export { defaultStickyFrom, sessionName } from './caller/sticky.js';
export { perOutputTokenMs } from '../state/ledger/per-output-token.js';
export { pluginStorage } from '../engine/pipeline/stage/plugin-storage.js';
export { RequestTrace } from '../engine/trace/request-trace.js';
export type { RequestVersion } from '../engine/trace/request-versions.js';
export type { CallIds, CallIdSource, TracedCall } from '../engine/trace/upstream-call-timer.js';
export { lessTokens } from './events/ledger-tokens.js';
export type { TracedStage } from '../engine/trace/traced-stage.js';
export type { Writable } from '../kit/writable.js';
export { pluginPlace, readProperty } from '../engine/trace/plugin-place.js';
export { networkOf, AddressMeters } from '../engine/http/address-meters.js';
export { growingCache } from '../kit/growing-cache.js';
export { asError } from '../kit/within.js';
export type { AddressMetersOptions } from '../engine/http/address-meters.js';
export { KeptState } from '../engine/pipeline/stage/kept-state.js';
export { stackPlaces } from '../kit/stack-places.js';
export type { StackPlace } from '../kit/stack-places.js';
export { Closed } from '../kit/schema/closed.js';
export { didYouMean } from '../kit/schema/did-you-mean.js';
export { localPaths } from '../kit/schema/local-paths.js';
export { isRecord } from '../kit/schema/record.js';
export { redactAddresses } from '../kit/schema/redact-addresses.js';
export { blank, markedTexts, redactMarked } from '../kit/schema/redact-marked.js';
export { Percentage, percentOf, Time, timeMs, units } from '../kit/schema/units.js';
export type { AccountDefinition, AccountKind } from './contract/account.js';
export type { StageMiddleware } from './contract/define.js';
export { stageParts, type ReadyParts } from '../engine/pipeline/stage/stage-parts.js';
export type { FormatDefinition } from './contract/format.js';
export { routeMethods } from './contract/route.js';
export type {
  HandledRoute,
  RouteDescription,
  RoutePath,
  RouteRequest,
  ServedRoute,
  StageRoute,
} from './contract/route.js';
export type { Keys, KnownKey, Limits } from './contract/host.js';
export type { HttpRequest, RequestTerms } from './contract/http-client.js';
export { hasBudget, limitFields, limitNames, maxFormerSecrets } from './contract/key-limits.js';
export type { WindowLimit } from './contract/key-limits.js';
export type {
  ContentBlockDeltaEvent,
  ContentBlockStartEvent,
  DocumentBlock,
  ImageBlock,
  MessageDeltaEvent,
  RedactedThinkingBlock,
  ServerToolUseBlock,
  Source,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
  WebSearchToolResultBlock,
} from './contract/messages.js';
export type { Counter, Histogram } from './contract/metrics.js';
export type { SlotFailure, SlotStatus, Window, Windows } from './contract/slot.js';
export type { LeaseRequest } from './contract/slots.js';
export type { StageState, StateKey } from './contract/state.js';
export type { Store } from './contract/store.js';
export type { TimedCall, TimedStage, TraceCost, UsageTally } from './contract/trace.js';
export type { UpstreamDefinition, UpstreamKind } from './contract/upstream.js';
export type { CallFailure, GatewayErrorOptions } from './contract/error.js';
export { isRequestHeader } from './http/headers.js';
export { readText } from './http/read-bytes.js';
export type { SseBodyOptions } from './http/sse-body.js';
export type { SsePiece } from './http/sse-text.js';
export { every, limited, sleep } from '../kit/clock.js';
export { fromMeter, toMeter } from './limits/limit-window.js';
export type { LimitHolder } from './limits/limit-window.js';
export { Deadline } from '../kit/deadline.js';
export { SerialQueue } from '../kit/serial-queue.js';
export { LateError, within } from '../kit/within.js';
export type { NamedLimit } from './caller/named-limit.js';
export type { CheckOptions } from '../kit/schema/check.js';
export type { SchemaError } from '../kit/schema/schema-error.js';
export { textOf } from './raw/binary-string-builder.js';
export { Networks, parseNetwork } from './http/networks.js';
export { hasEnvironmentProxy } from './http/external-fetch.js';
export { tlsOptions } from './http/tls-options.js';
export { tlsParts } from './http/tls-files.js';
export type { TlsPart } from './http/tls-files.js';
export { printable } from '../kit/printable.js';
