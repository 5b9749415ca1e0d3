import type { StopReason } from '../plugin/index.js';

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

const reasons: Readonly<Record<string, FinishReason>> = {
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

/** Finish reason in the terms of Chat Completions; a reason that it does not have becomes `stop`. */
export function finishReason(stopReason: StopReason | null): FinishReason {
  return (stopReason !== null && Object.hasOwn(reasons, stopReason) && reasons[stopReason]) || 'stop';
}
