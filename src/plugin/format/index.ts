/** `gw2api/plugin/format`: what a format needs besides `gw2api/plugin`. */
export { answeringModel } from '../answering-model.js';
export { defineFormat } from '../contract/format.js';
export type { Decoded, FailedRequest, FormatContext, FormatRoute } from '../contract/format.js';
export type { CacheControl, Citation, StopDetails, Thinking } from '../contract/messages.js';
export type { ModelProfile } from '../contract/models.js';
export type { StoredResponse } from '../contract/store.js';
export { dispatch } from '../dispatch.js';
export type { DispatchTable } from '../dispatch.js';
export { errorFromEvent, interruptedError } from '../events/upstream-error.js';
export { cutStopReason, finishedMembers, isCutInput } from '../events/tool-input.js';
export { isTooDeep } from '../http/parse-json.js';
export { inputJson, keepInput } from '../inputs/kept-inputs.js';
export { sseData, sseEvent } from '../http/sse-text.js';
export { conformingName } from '../narrowing/conforming-name.js';
export { samplingOf } from '../sampling.js';
export { compileCheck, formatPath } from '../schema/check.js';
export { fitSchema } from '../schema/fit/fit-schema.js';
export type { FittedSchema } from '../schema/fit/fit-schema.js';
