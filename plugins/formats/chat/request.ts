import type { CatalogModel } from 'gw2api/plugin';
import type { Decoded, FormatContext } from 'gw2api/plugin/format';
import { chatBody, type ChatBody } from './body.js';
import { readConversation } from './conversation.js';
import { readChoice, readTools } from './tools.js';
import { buildRequest } from '../shared/build-request.js';
import { bodyCheck } from '../shared/body.js';
import { fanOut, nested } from '../shared/fan-out.js';
import type { OutputParams } from '../shared/output-format.js';
import { readThinking } from '../shared/thinking-dialects.js';
import { thinkingRetry } from '../shared/thinking-retry.js';
import type { ToolParams } from '../shared/tool-choice.js';
import { UnsupportedFields } from '../shared/unsupported-fields.js';
import { webSearchTool } from '../shared/web-search.js';

const check = bodyCheck(chatBody);
const knownFields = new Set(Object.keys(chatBody.properties));

/** Decodes a Chat Completions body to a Messages request; throws `invalid_request` with the field's name. */
export function decodeChat(value: unknown, context: FormatContext): Decoded {
  const body = check(value);
  const dropped = new UnsupportedFields();
  const model = context.findModel(body.model);
  const { reasoning_effort: effort, reasoning } = body;
  const params = { effort, reasoning, thinking: body.thinking };
  const thinking = readThinking(params, context.models.profile(body.model), dropped);
  const request = buildRequest(
    {
      model: body.model,
      transcript: readConversation(body.messages, dropped),
      maxTokens: body.max_completion_tokens ?? body.max_tokens,
      stop: body.stop,
      sampling: body,
      tools: toolParams(body, model, dropped),
      thinking,
      output: outputParams(body, dropped),
      user: body.user,
      conversationPath: 'messages',
    },
    model,
    dropped,
  );
  dropped.addUnread(body, knownFields);
  const n = body.n ?? 1;
  return {
    request,
    stream: body.stream === true,
    dropped: dropped.paths,
    intercept: nested(n > 1 ? fanOut(n) : undefined, thinkingRetry(thinking, request, context.models)),
  };
}

function toolParams(
  body: ChatBody,
  model: CatalogModel | undefined,
  dropped: UnsupportedFields,
): Omit<ToolParams, 'called'> {
  const toolbox = readTools(body, dropped);
  const options = body.web_search_options;
  const path = 'web_search_options';
  if (options && model?.webSearch === false) dropped.add(path);
  else if (options) toolbox.addServer(webSearchTool({ path, options }, dropped), path);
  return { tools: toolbox.tools, parallel: body.parallel_tool_calls, ...readChoice(body, dropped) };
}

function outputParams({ response_format }: ChatBody, dropped: UnsupportedFields): OutputParams | undefined {
  if (!response_format || response_format.type === 'text') return undefined;
  const path = 'response_format.json_schema';
  if (response_format.type === 'json_object') return { path };
  if (response_format.type === 'json_schema') {
    const { schema, description } = response_format.json_schema ?? {};
    return { path, description, schema: schema ?? undefined };
  }
  dropped.add('response_format');
  return undefined;
}
