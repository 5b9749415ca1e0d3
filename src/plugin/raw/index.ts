/** `@gw2api/gateway/plugin/raw`: byte tools. They may change in a minor version. */
export { callSignal } from '../../kit/call-signal.js';
export type { CallSignal } from '../../kit/call-signal.js';
export { sendTo } from '../../kit/direct-body.js';
export { SseBody } from '../http/sse-body.js';
export { fromBinaryString, toBinaryString } from './binary-string.js';
export type { BinaryString } from './binary-string.js';
export { CollectedBytes, collectBytes } from '../http/collected-bytes.js';
export { joinBytes, requireUtf8 } from '../http/read-bytes.js';
export { keepRequestInputs } from '../inputs/body-inputs.js';
export { bodyWithInputs } from '../inputs/inputs-json.js';
export { parseInPieces } from '../raw/parse-in-pieces.js';
export { plainDeltaEnd } from '../raw/plain-delta.js';
export type { PlainDelta } from '../raw/plain-delta.js';
export { requestBytes, shareBytes } from '../raw/raw-messages.js';
export { BinaryStringBuilder } from './binary-string.js';
export type { RawLines } from './binary-string.js';
export { StreamController } from '../events/stream/stream-controller.js';
export type { Flow, Sink } from '../events/stream/stream-controller.js';
