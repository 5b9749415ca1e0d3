/** Names for `src` beside those of the public modules; not public, at most 100. */
export { accountRefused, errorCodes } from './contract/error.js';
export { errorWithout } from './events/text/hide-secrets.js';
export { defaultPipeline } from './contract/caller.js';
export { hasStandardKey, sentKey } from './caller/caller-key.js';
export type { AccountKind } from './contract/slot/account.js';
export type { PluginStore, Team } from './contract/store.js';
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
export type { CacheStats, Caches, Counter, Histogram, Metrics } from './contract/telemetry.js';
export type { Keys, KnownKey, Limits } from './contract/host.js';
export type {
  CoolReason,
  SessionMove,
  SlotFailure,
  SlotState,
  SlotStatus,
  Window,
  Windows,
} from './contract/slot/slot.js';
export { coreKeys } from './contract/state.js';
export type { CoreKey, Interceptor, StateKey } from './contract/state.js';
export type { AddedByStages, StageMeter, StagePlace, TimedStage, TraceCost } from './contract/trace.js';
export { skippedReply } from './stage/skippable.js';
export { checkReply } from './stage/check-reply.js';
export { joining, noInterceptors } from './stage/interceptors.js';
export type { FailoverTerms, LeaseRequest, PickTerms, PickedCall, Slots } from './contract/slot/slots.js';
export type { KeySecret } from './contract/protocol-key.js';
export { CallController } from './http/call-controller.js';
export { connectionKey, connectionOf } from './format/connection.js';
export type { Connection } from './format/connection.js';
export { defaultMaxBodyBytes } from './format/format-context.js';
export { modelRefusal, namesIn } from './caller/model-access.js';
export { routeMethods } from './contract/route.js';
export type { HandledRoute, RoutePath, RouteRequest, ServedRoute, StageRoute } from './contract/route.js';
export type { ConnectSettings, HttpRequest, RequestTerms } from './contract/slot/http-client.js';
export { limitFields, limitNames } from './contract/protocol-key.js';
export type { WindowLimit } from './contract/protocol-key.js';
export type { UpstreamKind } from './contract/slot/upstream.js';
export type { CallFailure } from './contract/error.js';
export { isRequestHeader } from './http/headers.js';
export { readText } from './http/read-bytes.js';
export { fromMeter, toMeter } from './limits/limit-window.js';
export type { LimitHolder } from './limits/limit-window.js';
export { textOf } from './raw/binary-string.js';
export { hasEnvironmentProxy } from './http/external-fetch.js';
export { tlsOptions } from './http/external-fetch.js';
export { tlsParts } from './http/tls-files.js';
export type { PluginStorage } from './contract/host.js';
export { StrictEvents } from './events/stream/strict-events.js';
export { OutputMeter } from './events/output-meter.js';
export type {
  CacheCause,
  LedgerFilter,
  LedgerSums,
  LedgerTokens,
  UsageGroup,
  UsageQuery,
  UsageSum,
} from './contract/ledger.js';
export { accountForm } from './contract/slot/account.js';
export { stageForm } from './contract/define.js';
export { defined, definitionFault } from './contract/definition.js';
export type { DefinitionForm } from './contract/definition.js';
export { formatForm } from './contract/format.js';
export { upstreamForm } from './contract/slot/upstream.js';
export { MessageMender } from './events/mend/message-mender.js';
