import type { CatalogModel, MessagesRequest } from 'gw2api/plugin';
import { invalidField, present } from './body.js';
import { latestMarkers } from './cache-markers.js';
import { withUniqueCalls } from './call-ids.js';
import { resolveOutput, type OutputParams } from './output-format.js';
import { resolveSampling, type SamplingParams } from './sampling.js';
import { planThinking, type ThinkingPlan, type ThinkingParams } from './thinking.js';
import { isForced, resolveTools, type ToolParams } from './tool-choice.js';
import type { Transcript } from './transcript.js';
import type { UnsupportedFields } from './unsupported-fields.js';

/** Request of a caller in a translated format, in terms that all formats share. */
export interface RequestParams {
  readonly model: string;
  readonly transcript: Transcript;
  readonly maxTokens?: number | null | undefined;
  readonly stop?: string | readonly string[] | null | undefined;
  readonly sampling: SamplingParams;
  readonly tools?: Omit<ToolParams, 'called'>;
  readonly thinking?: ThinkingParams;
  readonly output?: OutputParams | undefined;
  readonly user?: string | null | undefined;
  /** Field that holds the conversation, for the error message if it is empty. */
  readonly conversationPath: string;
}

/** Equivalent Messages request; fields that it cannot express are reported in `dropped`. */
export function buildRequest(
  params: RequestParams,
  model: CatalogModel | undefined,
  dropped: UnsupportedFields,
): MessagesRequest {
  const { transcript, conversationPath } = params;
  const messages = withUniqueCalls(transcript.messages);
  if (messages.length === 0)
    throw invalidField(conversationPath, 'must hold a user or assistant message that is not empty');
  const { tools: offered = [], choice, allowed, parallel } = params.tools ?? {};
  const called = transcript.calledTools;
  const tools = resolveTools({ tools: offered, choice, allowed, parallel, called }, dropped);
  const isForcedUpstream = isForced(tools.tool_choice) && model?.forcedToolChoice !== false;
  const maxTokens = params.maxTokens ?? undefined;
  const plan = params.thinking
    ? planThinking(params.thinking, { model, maxTokens, isForced: isForcedUpstream, messages }, dropped)
    : {};
  const { format, instruction } = resolveOutput(params.output, dropped);
  const system = [...transcript.system, ...(instruction ? [instruction] : [])];
  return latestMarkers({
    model: params.model,
    ...present({ max_tokens: maxTokens }),
    ...(system.length > 0 && { system }),
    messages,
    ...tools,
    ...resolveSampling(params.sampling, { model, isThinking: isThinking(plan) }, dropped),
    ...stopSequences(params.stop, dropped),
    ...thinkingFields(plan, format),
    ...(params.user && { metadata: { user_id: params.user } }),
  });
}

function isThinking({ thinking }: ThinkingPlan): boolean {
  return thinking !== undefined && thinking.type !== 'disabled';
}

function thinkingFields(
  { thinking, effort }: ThinkingPlan,
  format: ReturnType<typeof resolveOutput>['format'],
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
