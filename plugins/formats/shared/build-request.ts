import type { MessagesRequest, OutputConfig } from '@gw2api/gateway/plugin';
import type { CacheControl } from '@gw2api/gateway/plugin/format';
import { invalidField, present } from './body.js';
import { latestMarkers } from './cache-markers.js';
import { withUniqueCalls } from './tools/call-ids.js';
import { messagesThinking, type ThinkingParams } from './thinking.js';
import { resolveTools, type ToolParams } from './tools/tool-choice.js';
import type { Transcript } from './transcript.js';
import type { UnsupportedFields } from './unread/unsupported-fields.js';

/** Sampling parameters as the caller sent them; null means not set. */
export interface SamplingParams {
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly top_k?: number | null;
}

type SamplingFields = Pick<MessagesRequest, keyof SamplingParams>;

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
  /** Cache marker of the whole request. */
  readonly marker?: CacheControl | null | undefined;
  /** Field that holds the conversation, for the error message if it is empty. */
  readonly conversationPath: string;
}

/**
 * Equivalent Messages request; fields that it cannot express are reported in `dropped`. It may have system text alone,
 * which some upstreams take.
 */
export function buildRequest(params: RequestParams, dropped: UnsupportedFields): MessagesRequest {
  const { transcript, conversationPath } = params;
  const messages = withUniqueCalls(transcript.messages);
  for (const path of [...transcript.replacedResults, ...transcript.orphanResults]) dropped.add(path);
  if (messages.length === 0 && transcript.system.length === 0)
    throw invalidField(conversationPath, 'must contain a non-empty user or assistant message');
  const { tools: offered = [], choice, allowed, parallel } = params.tools ?? {};
  const called = transcript.calledTools;
  const tools = resolveTools({ tools: offered, choice, allowed, parallel, called }, dropped);
  const { thinking, effort } = params.thinking ? messagesThinking(params.thinking) : {};
  const format = params.output && outputFormat(params.output);
  const { system } = transcript;
  const stops = [params.stop ?? []].flat();
  const output_config = present({ effort, format });
  return latestMarkers({
    model: params.model,
    ...present({ max_tokens: params.maxTokens ?? undefined }),
    ...(system.length > 0 && { system }),
    messages,
    ...tools,
    ...samplingFields(params.sampling),
    ...(stops.length > 0 && { stop_sequences: stops }),
    ...present({ thinking }),
    ...(Object.keys(output_config).length > 0 && { output_config }),
    ...(params.user && { metadata: { user_id: params.user } }),
    ...(params.marker && { cache_control: params.marker }),
  });
}

function samplingFields({ temperature, top_p, top_k }: SamplingParams): SamplingFields {
  return present({
    temperature: temperature ?? undefined,
    top_p: top_p ?? undefined,
    top_k: top_k ?? undefined,
  });
}

/** Form of the answer that the caller wants; a schema is absent if any JSON object will do. */
export interface OutputParams {
  readonly schema?: Readonly<Record<string, unknown>> | null | undefined;
  readonly name?: string | null | undefined;
  readonly strict?: boolean | null | undefined;
  readonly description?: string | null | undefined;
}

/** `output_config.format` with all of the caller's fields; each upstream fits the schema to its receiver. */
function outputFormat({ schema, name, strict, description }: OutputParams): OutputConfig['format'] {
  if (!schema) return { type: 'json_object' };
  return {
    type: 'json_schema',
    schema,
    ...present({
      name: name ?? undefined,
      strict: strict ?? undefined,
      description: description ?? undefined,
    }),
  };
}
