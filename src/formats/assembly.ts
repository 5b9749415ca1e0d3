import type { CatalogModel, MessagesRequest } from '../plugin/index.js';
import { invalidField, present } from './body.js';
import { latestMarkers } from './cache-markers.js';
import { withUniqueCalls } from './call-ids.js';
import type { UnsupportedFields } from './unsupported-fields.js';
import { settleOutput, type OutputWish } from './output-format.js';
import { settleSampling, type SamplingParams } from './sampling.js';
import { planThinking, type ThinkingPlan, type ThinkingParams } from './thinking.js';
import { isForced, settleTools, type ToolWish } from './tool-choice.js';
import type { Transcript } from './transcript.js';

/** Request of a caller in a translated format, in terms that all formats share. */
export interface RequestParams {
  readonly model: string;
  readonly transcript: Transcript;
  readonly maxTokens?: number | null | undefined;
  readonly stop?: string | readonly string[] | null | undefined;
  readonly sampling: SamplingParams;
  readonly tools?: Omit<ToolWish, 'called'>;
  readonly thinking?: ThinkingParams;
  readonly output?: OutputWish | undefined;
  readonly user?: string | null | undefined;
  /** Field that holds the conversation, for the error message if it is empty. */
  readonly conversationPath: string;
}

/** Equivalent Messages request; fields that it cannot express are reported in `dropped`. */
export function assemble(
  wishes: RequestParams,
  model: CatalogModel | undefined,
  dropped: UnsupportedFields,
): MessagesRequest {
  const { transcript, conversationPath } = wishes;
  const messages = withUniqueCalls(transcript.messages);
  if (messages.length === 0)
    throw invalidField(conversationPath, 'must hold a user or assistant message that is not empty');
  const { tools: offered = [], choice, allowed, parallel } = wishes.tools ?? {};
  const called = transcript.calledTools;
  const tools = settleTools({ tools: offered, choice, allowed, parallel, called }, dropped);
  const isForcedUpstream = isForced(tools.tool_choice) && model?.forcedToolChoice !== false;
  const maxTokens = wishes.maxTokens ?? undefined;
  const plan = wishes.thinking
    ? planThinking(wishes.thinking, { model, maxTokens, isForced: isForcedUpstream, messages }, dropped)
    : {};
  const { format, instruction } = settleOutput(wishes.output, dropped);
  const system = [...transcript.system, ...(instruction ? [instruction] : [])];
  return latestMarkers({
    model: wishes.model,
    ...present({ max_tokens: maxTokens }),
    ...(system.length > 0 && { system }),
    messages,
    ...tools,
    ...settleSampling(wishes.sampling, { model, isThinking: isThinking(plan) }, dropped),
    ...stopSequences(wishes.stop, dropped),
    ...thinkingFields(plan, format),
    ...(wishes.user && { metadata: { user_id: wishes.user } }),
  });
}

function isThinking({ thinking }: ThinkingPlan): boolean {
  return thinking !== undefined && thinking.type !== 'disabled';
}

function thinkingFields(
  { thinking, effort }: ThinkingPlan,
  format: ReturnType<typeof settleOutput>['format'],
): Pick<MessagesRequest, 'thinking' | 'output_config'> {
  const output_config = present({ effort, format });
  return { ...present({ thinking }), ...(Object.keys(output_config).length > 0 && { output_config }) };
}

/** The upstream refuses stop sequences of nothing but white space. */
function stopSequences(
  stop: RequestParams['stop'],
  dropped: UnsupportedFields,
): Pick<MessagesRequest, 'stop_sequences'> {
  const all = [stop ?? []].flat();
  const stop_sequences = all.filter((text) => text.trim() !== '');
  if (stop_sequences.length < all.length) dropped.add('stop');
  return stop_sequences.length > 0 ? { stop_sequences } : {};
}
