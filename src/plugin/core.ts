/** What `src` uses of this folder beside the public doors; not public. */
export { accountRefused, errorCodes } from './contract/error.js';
export { errorWithout } from './events/hide-secrets.js';
export { holdsContractKey, requireMasterKey, sentKey } from './caller/caller-key.js';
export { callerMatcher, isForeign, reservedNames } from './caller/caller-patterns.js';
export { accountFields, normalizeAccount } from './contract/account.js';
export type { RefusedAnswer, AccountKind } from './contract/account.js';
export { normalizePlugin, stageFields } from './contract/define.js';
export { checkDefinition, definitionFault } from './contract/definition.js';
export type {
  Subject,
  Binding,
  ConsoleSession,
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
  Store,
} from './contract/store.js';
export type { ApiLevel, Fields } from './contract/definition.js';
export { formatFields, normalizeFormat } from './contract/format.js';
export { normalizeUpstream, upstreamFields } from './contract/upstream.js';
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
export type { CallerTeam } from './contract/caller.js';
export type { CacheStats, Caches, Metrics, Counter, Histogram } from './contract/metrics.js';
export { tapEvents } from './events/map-events.js';
export { MessageMender } from './events/mend/message-mender.js';
export type { Secrets, Keys, KnownKey, Limits } from './contract/host.js';
export type {
  CoolReason,
  SessionMove,
  SlotState,
  SlotFailure,
  SlotStatus,
  Window,
  Windows,
} from './contract/slot.js';
export { coreKeys } from './contract/state.js';
export type { CallOptions, CoreKey, Interceptor, StateKey } from './contract/state.js';
export type { StageMeter, StagePlace, TimedCall, TraceCost, UsageTally } from './contract/trace.js';
export { checkReply } from './stage/check-reply.js';
export { joining, noInterceptors } from './stage/interceptors.js';
export type { FailoverTerms, PickedCall, PickTerms, Slots, LeaseRequest } from './contract/slots.js';
export type { FormerSecret, KeyPatch, KeySecret } from './contract/protocol-key.js';
export { CallController } from './http/call-controller.js';
export { connectionKey, connectionOf } from './format/connection.js';
export type { Connection } from './format/connection.js';
export { defaultMaxBodyBytes } from './format/format-context.js';
export { modelRefusal, namesIn } from './caller/model-access.js';
export { defaultStickyFrom, sessionName } from './caller/sticky.js';
export { lessTokens } from './events/ledger-tokens.js';
export { routeMethods } from './contract/route.js';
export type { HandledRoute, RoutePath, RouteRequest, ServedRoute, StageRoute } from './contract/route.js';
export type { HttpRequest, RequestTerms } from './contract/http-client.js';
export { hasBudget, limitFields, limitNames, maxFormerSecrets } from './contract/key-limits.js';
export type { WindowLimit } from './contract/key-limits.js';
export type { DocumentBlock, RedactedThinkingBlock, ThinkingBlock } from './contract/messages.js';
export type { UpstreamKind } from './contract/upstream.js';
export type { CallFailure } from './contract/error.js';
export { isRequestHeader } from './http/headers.js';
export { readText } from './http/read-bytes.js';
export { fromMeter, toMeter } from './limits/limit-window.js';
export type { LimitHolder } from './limits/limit-window.js';
export { textOf } from './raw/binary-string-builder.js';
export { Networks, parseNetwork } from './http/networks.js';
export { hasEnvironmentProxy } from './http/external-fetch.js';
export { tlsOptions } from './http/tls-options.js';
export { tlsParts } from './http/tls-files.js';
