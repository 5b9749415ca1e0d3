/** `@gw2api/gateway/plugin/upstream`: the exports for upstreams and accounts besides `@gw2api/gateway/plugin`. */
export { allowedTools, offeredTools } from '../stage/tool-choice.js';
export { defineAccount } from '../contract/slot/account.js';
export type { Account, AccountHost, TokenStore } from '../contract/slot/account.js';
export type {
  Credential,
  HttpAnswer,
  HttpClient,
  OutgoingRequest,
  SseTranslator,
} from '../contract/slot/http-client.js';
export type { CacheControl, Citation, StopDetails } from '../contract/messages.js';
export type { ModelProfile } from '../contract/models.js';
export type { DiagnosisStep, RefusedPart, UpstreamReply } from '../contract/slot/slot.js';
export type { OAuthTokens } from '../contract/store.js';
export { defineUpstream } from '../contract/slot/upstream.js';
export type {
  ListedModel,
  SlotSettings,
  Upstream,
  UpstreamCall,
  UpstreamHost,
  UpstreamQuery,
} from '../contract/slot/upstream.js';
export { dispatch } from '../../kit/dispatch.js';
export type { DispatchTable } from '../../kit/dispatch.js';
export { blockEvents } from '../events/block-events.js';
export { MessageFold } from '../events/fold.js';
export { mendedMessage } from '../events/mend/mended-message.js';
export { cutStopReason, isCutInput, toolInput } from '../events/tool-input.js';
export { blockExtraLosses, extraKind, extraLosses, extraPath } from '../stage/extras.js';
export { abortSignal } from '../../kit/call-signal.js';
export { isTooDeep } from '../http/parse-json.js';
export { defaultAnthropicVersion, isHeaderValue } from '../http/headers.js';
export { errorFields, isErrorBody } from '../events/error-shapes.js';
export { errorFromEvent, errorType, interruptedError, namedStatus } from '../events/upstream-error.js';
export { foreign, jsonFields, refusal } from '../http/upstream-answer.js';
export { fitSchema } from '../schema/fit/fit-schema.js';
export type { FittedSchema } from '../schema/fit/fit-schema.js';
export { KeyScanner } from '../schema/fit/key-scanner.js';
export { withinStrictLimits } from '../schema/fit/strict-limits.js';
export { narrowedForMessages } from '../narrowing/narrowed-call.js';
export { refusedThinking } from '../narrowing/refused-thinking.js';
export type { SchemaError } from '../../kit/schema/schema-error.js';
export { keepArguments } from '../inputs/argument-objects.js';
export { inputJson, keepInput } from '../inputs/kept-inputs.js';
export { untilAborted } from '../../kit/time/within.js';
