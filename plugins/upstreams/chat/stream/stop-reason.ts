import type { StopReason } from 'gw2api/plugin';

/** Ending of an answer, as its server said it. */
export interface Finish {
  readonly finishReason: string | undefined;
  readonly hasCalls: boolean;
  /** A tool call ends in the middle of its arguments. */
  readonly isCut: boolean;
  /** Stop sequence that ended it, if the server names it (vLLM). */
  readonly stopSequence: string | undefined;
  /** Text of a refusal. */
  readonly refusal: string;
}

/** Stop reason of Messages. An answer with tool calls waits for their results, whatever its server says. */
export function stopReason({ finishReason, hasCalls, isCut, stopSequence, refusal }: Finish): StopReason {
  if (refusal !== '' || refusals.has(finishReason)) return 'refusal';
  if (isCut || cuts.has(finishReason)) return 'max_tokens';
  if (hasCalls) return 'tool_use';
  return stopSequence === undefined ? 'end_turn' : 'stop_sequence';
}

const cuts: ReadonlySet<string | undefined> = new Set(['length', 'max_tokens', 'model_length']);
const refusals: ReadonlySet<string | undefined> = new Set(['content_filter', 'refusal', 'safety']);

/** Finish reasons by which a server says that it has failed. */
export const failedReasons: ReadonlySet<string | undefined> = new Set([
  'error',
  'insufficient_system_resource',
]);
