import { extrasOf, withExtras, type CatalogModel } from '@gw2api/gateway/plugin';
import type { Decoded, FormatContext } from '@gw2api/gateway/plugin/format';
import { chatBody, type ChatBody, type ChatMessage } from './body.js';
import { readConversation } from './conversation.js';
import { withTextCalls } from './flat-tools.js';
import { readChoice, readTools } from './tools.js';
import { buildRequest, type OutputParams } from '../shared/build-request.js';
import { bodyCheck, withoutNoLimits } from '../shared/body.js';
import { markerOf, markerField } from '../shared/cache-markers.js';
import { callerPathOf, settingPaths, type CallerPaths, type ToolPath } from '../shared/caller-paths.js';
import { contentPaths, type BlockPath } from '../shared/content-paths.js';
import { fanOut } from '../shared/fan-out.js';
import { type ThinkingParams, readThinking } from '../shared/thinking.js';
import type { ToolParams } from '../shared/tools/tool-choice.js';
import type { Toolbox } from '../shared/tools/toolbox.js';
import type { Transcript } from '../shared/transcript.js';
import { unreadFields } from '../shared/unread/unread-fields.js';
import { unreadInFields } from '../shared/unread/unread-members.js';
import { UnsupportedFields } from '../shared/unread/unsupported-fields.js';
import { webSearchTool } from '../shared/tools/web-search.js';
import { isEmptyThought } from './foreign-parts.js';
import { thoughtOfCall, thoughtsOf } from './thoughts.js';

const check = bodyCheck(chatBody);
const { prompt_cache_key: _, ...readProperties } = chatBody.properties; // read for the session alone
const readFields = new Set(Object.keys(readProperties));
const reportMembers = unreadInFields(chatBody, ['messages']);

/** Decodes a Chat Completions body to a Messages request; throws `invalid_request` with the field's name. */
export function decodeChat(value: unknown, context: FormatContext): Decoded {
  const body = check(withoutNoLimits(value));
  const dropped = new UnsupportedFields();
  reportMembers(body, dropped);
  const model = context.findModel(body.model);
  const { reasoning_effort: effort, reasoning } = body;
  const params = { effort, reasoning, thinking: body.thinking };
  const thinking = readThinking(params, dropped);
  const toolbox = toolsOf(body, model, dropped);
  const transcript = readConversation(withTextCalls(body), dropped);
  const request = buildRequest(
    {
      model: body.model,
      transcript,
      maxTokens: body.max_completion_tokens ?? body.max_tokens,
      stop: body.stop,
      sampling: body,
      tools: toolParams(toolbox, body, dropped),
      thinking,
      output: outputParams(body, dropped),
      user: body.user,
      marker: markerOf({ cache_control: body.cache_control ?? null }).cache_control,
      conversationPath: 'messages',
    },
    dropped,
  );
  const n = body.n ?? 1;
  return {
    request: withExtras(request, { ...unreadFields(body, readFields), ...extrasOf(request) }),
    stream: body.stream === true,
    dropped: dropped.paths,
    pathOf: callerPathOf(request, () => pathsOf(body, { thinking, toolbox, transcript })),
    intercept: n > 1 ? fanOut(n) : undefined,
    answers: n,
  };
}

function toolsOf(body: ChatBody, model: CatalogModel | undefined, dropped: UnsupportedFields): Toolbox {
  const toolbox = readTools(body, dropped);
  const options = body.web_search_options;
  const path = 'web_search_options';
  if (options && model?.webSearch === false) dropped.add(path);
  else if (options) toolbox.addServer(webSearchTool({ path, options }, dropped), path);
  return toolbox;
}

function toolParams(
  { tools }: Toolbox,
  body: ChatBody,
  dropped: UnsupportedFields,
): Omit<ToolParams, 'called'> {
  return { tools, parallel: parallelOf(body), ...readChoice(body, dropped) };
}

/** Permission of parallel calls, by the field of Chat or that of a choice in the shape of Messages. */
function parallelOf({ parallel_tool_calls: parallel, tool_choice: choice }: ChatBody): boolean | undefined {
  const isDisabled = typeof choice === 'object' && choice?.disable_parallel_tool_use;
  return parallel ?? (isDisabled ? false : undefined);
}

function pathsOf(
  body: ChatBody,
  { thinking, toolbox, transcript }: { thinking: ThinkingParams; toolbox: Toolbox; transcript: Transcript },
): CallerPaths {
  const form = body.response_format?.json_schema ? 'response_format.json_schema' : 'response_format';
  return {
    fields: {
      ...settingPaths(thinking),
      max_tokens: body.max_completion_tokens ? 'max_completion_tokens' : 'max_tokens',
      'output_config.format': 'response_format',
      'output_config.format.schema': `${form}.schema`,
      'output_config.format.strict': `${form}.strict`,
      'output_config.format.name': `${form}.name`,
    },
    toolPath: (name) => chatToolPath(body, toolbox.placeOf(name)),
    contentPath: contentPaths(transcript, chatBlockPath(body)),
  };
}

function outputParams({ response_format }: ChatBody, dropped: UnsupportedFields): OutputParams | undefined {
  if (!response_format || response_format.type === 'text') return undefined;
  if (response_format.type === 'json_object') return { schema: response_format.schema };
  // llama.cpp has the schema beside the type.
  if (response_format.type === 'json_schema') return response_format.json_schema ?? response_format;
  dropped.add('response_format');
  return undefined;
}

/** Paths of the blocks that were made of a message: thinking first, then content, a refusal, and calls. */
function chatBlockPath({ messages }: ChatBody): BlockPath {
  return ({ path, index }, rest) => {
    const message = messages[Number(/\[(\d+)\]/.exec(path)?.[1])];
    if (message?.role === 'tool' || message?.role === 'function') return `${path}${rest || '.content'}`;
    if (rest === '.cache_control' && message) return `${path}${markerPath(message, index)}`;
    const place = message ? placeOf(message, index) : '';
    return `${path}${place}${rest.replace(/^\.detail$/, '.image_url.detail')}`;
  };
}

/** Places of a tool, whose marker may stand beside its definition. */
function chatToolPath({ tools }: ChatBody, at: ToolPath | undefined): ToolPath | undefined {
  if (!at) return undefined;
  const tool = tools?.[Number(/^tools\[(\d+)\]$/.exec(at.tool)?.[1])];
  return tool?.cache_control ? { ...at, marker: `${at.tool}.cache_control` } : at;
}

/** Place of the marker of a block: on its part, else on the message. */
function markerPath(message: ChatMessage, index: number): string {
  const place = placeOf(message, index);
  const at = /^\.content\[(\d+)\]$/.exec(place)?.[1];
  const part =
    at === undefined || typeof message.content === 'string' ? undefined : message.content?.[Number(at)];
  const field = part && markerField(part);
  return field ? `${place}.${field}` : '.cache_control';
}

function placeOf(message: ChatMessage, index: number): string {
  const { content, refusal, tool_calls: calls } = message;
  const parts =
    typeof content === 'string'
      ? ['.content']
      : (content ?? []).flatMap((part, at) => (isEmptyThought(part) ? [] : `.content[${at}]`));
  const called = (calls ?? []).flatMap((call, at) => [
    ...thoughtOfCall(call).map(() => `.tool_calls[${at}].extra_content`),
    `.tool_calls[${at}]`,
  ]);
  const thoughts = thoughtsOf(message).map(({ place }) => place);
  return [...thoughts, ...parts, ...(refusal ? ['.refusal'] : []), ...called][index] ?? '';
}
