import type { MessagesResponse, StopReason } from '@gw2api/gateway/plugin';

/** The answer's id upstream, in the form that the dialect has: `msg_01X` becomes `chatcmpl-01X`. */
export function completionId(prefix: 'chatcmpl' | 'cmpl', { id }: MessagesResponse): string {
  return `${prefix}-${id.replace(/^(?:msg_|resp_|chatcmpl-)+/, '')}`;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

const reasons: Readonly<Record<string, FinishReason>> = {
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  pause_turn: 'length', // still paused after all continuations
  refusal: 'content_filter',
};

/** Finish reason in the terms of Chat Completions; a reason that it does not have becomes `stop`. */
export function finishReason(stopReason: StopReason | null): FinishReason {
  return (stopReason !== null && Object.hasOwn(reasons, stopReason) && reasons[stopReason]) || 'stop';
}
