import type { CatalogModel, Decoded, FormatContext } from '../../plugin/index.js';
import { assemble } from '../assembly.js';
import { bodyCheck } from '../body.js';
import { UnsupportedFields } from '../unsupported-fields.js';
import { fanOut } from '../fan-out.js';
import type { OutputWish } from '../output-format.js';
import { readThinking } from '../thinking-dialects.js';
import { thinkingRetry } from '../thinking-retry.js';
import type { ToolWish } from '../tool-choice.js';
import { webSearchTool } from '../web-search.js';
import { chatBody, type ChatBody } from './body.js';
import { readConversation } from './conversation.js';
import { readChoice, readTools } from './tools.js';

export type { ChatBody } from './body.js';
export { toolNames } from './tools.js';

const check = bodyCheck(chatBody);
const read = new Set(Object.keys(chatBody.properties));

/** Decodes a Chat Completions body to a Messages request; throws `invalid_request` with the field's name. */
export function decodeChat(value: unknown, context: FormatContext): Decoded {
  const body = check(value);
  const dropped = new UnsupportedFields();
  const model = context.findModel(body.model);
  const { reasoning_effort: effort, reasoning } = body;
  const wishes = { effort, reasoning, thinking: body.thinking };
  const thinking = readThinking(wishes, context.models.profile(body.model), dropped);
  const request = assemble(
    {
      model: body.model,
      transcript: readConversation(body.messages, dropped),
      maxTokens: body.max_completion_tokens ?? body.max_tokens,
      stop: body.stop,
      sampling: body,
      tools: toolWish(body, model, dropped),
      thinking,
      output: outputWish(body, dropped),
      user: body.user,
      conversationPath: 'messages',
    },
    model,
    dropped,
  );
  dropped.addUnread(body, read);
  const n = body.n ?? 1;
  return {
    request,
    stream: body.stream === true,
    dropped: dropped.paths,
    interceptors: [...(n > 1 ? [fanOut(n)] : []), ...thinkingRetry(thinking, request, context.models)],
  };
}

function toolWish(
  body: ChatBody,
  model: CatalogModel | undefined,
  dropped: UnsupportedFields,
): Omit<ToolWish, 'called'> {
  const toolbox = readTools(body, dropped);
  const options = body.web_search_options;
  const path = 'web_search_options';
  if (options && model?.webSearch === false) dropped.add(path);
  else if (options) toolbox.addServer(webSearchTool({ path, options }, dropped), path);
  return { tools: toolbox.tools, parallel: body.parallel_tool_calls, ...readChoice(body, dropped) };
}

function outputWish({ response_format }: ChatBody, dropped: UnsupportedFields): OutputWish | undefined {
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
