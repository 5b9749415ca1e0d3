import { randomUUID } from 'node:crypto';
import { ModelEvent, withFields, type EventOf, type StopReason, type Usage } from '@gw2api/gateway/plugin';
import { estimate } from './counts.js';

/** Beginning of an answer, from its upstream's data. */
export interface AnswerStart {
  /** Empty if the upstream names none. */
  readonly id: string;
  readonly model: string;
  /** Size of the prompt, from which its tokens are estimated. */
  readonly requestBytes: number;
}

/** `message_start` with all members that typed clients of the Messages API require. */
export function nativeStart({ id, model, requestBytes }: AnswerStart): ModelEvent {
  const usage: Usage = {
    input_tokens: estimate(requestBytes),
    output_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: null,
    output_tokens_details: null,
    server_tool_use: null,
    inference_geo: null,
    service_tier: null,
    speed: null,
  };
  const message = {
    id: nativeId(id),
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    usage,
  } as const;
  return ModelEvent.of({ type: 'message_start', message });
}

/** Delta of `message_delta`; a refusal includes its reason. */
export interface AnswerEnd {
  readonly stop_reason: StopReason | null;
  readonly stop_sequence: string | null;
  readonly stop_details?: EventOf<'message_delta'>['delta']['stop_details'];
}

/** `message_delta` with all members that typed clients of the Messages API require. */
export function nativeEnd({ stop_reason, stop_sequence, stop_details }: AnswerEnd, usage: Usage): ModelEvent {
  const delta = { container: null, stop_reason, stop_sequence, stop_details: stop_details ?? null };
  return ModelEvent.of({ type: 'message_delta', delta, usage: withFields(unknown, usage) });
}

/** An upstream's id in the form of Messages; the same each time. */
function nativeId(id: string): string {
  const known = id.replace(/^(?:msg_|resp_|chatcmpl-)+/, '').slice(0, 200);
  return `msg_${known || randomUUID().replaceAll('-', '')}`;
}

/** Counts of an answer that its upstream does not report. */
const unknown: Usage = {
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens_details: null,
  server_tool_use: null,
};
