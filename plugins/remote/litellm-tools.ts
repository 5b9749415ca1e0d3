import type { MessagesRequest } from '@gw2api/gateway/plugin';
import { changedRequest } from '@gw2api/gateway/plugin/remote';
import type { LitellmReply } from './litellm-reply.js';

type Tool = NonNullable<MessagesRequest['tools']>[number];

/** Tools in the Chat format; those that a provider runs stay as they are. */
export function chatTools({ tools }: MessagesRequest): readonly object[] | null {
  if (!Array.isArray(tools) || tools.length === 0) return null; // nobody has checked it
  return tools.map((tool) => (isFunction(tool) ? chatTool(tool) : tool));
}

/**
 * The request with the functions that a reply has, those that a provider runs aside. Throws a TypeError for a function
 * that was not sent.
 */
export function withChatTools(
  request: MessagesRequest,
  returned: NonNullable<LitellmReply['tools']>,
): MessagesRequest {
  const { tools = [] } = request;
  const functions = new Map(returned.flatMap(({ function: given }) => (given ? [[given.name, given]] : [])));
  const known = new Set(tools.filter(isFunction).map(({ name }) => name));
  const unknown = [...functions.keys()].find((name) => !known.has(name));
  if (unknown !== undefined) throw new TypeError('tools: has a function that was not sent');
  const next = tools.flatMap((tool) => {
    const given = functions.get(tool.name);
    if (!isFunction(tool)) return [tool];
    return given ? [{ ...tool, ...changesOf(given) }] : [];
  });
  return changedRequest(request, ['tools'], { version: 1, verdict: 'change', set: { tools: next } });
}

function changesOf({ description, parameters }: ChatFunction): Partial<Tool> {
  return {
    ...(typeof description === 'string' && { description }),
    ...(parameters && { input_schema: parameters }),
  };
}

type ChatFunction = NonNullable<NonNullable<LitellmReply['tools']>[number]['function']>;

function isFunction({ type }: Tool): boolean {
  return type === undefined || type === 'custom';
}

function chatTool({ name, description, input_schema: parameters }: Tool): object {
  return {
    type: 'function',
    function: { name, ...(description !== undefined && { description }), ...(parameters && { parameters }) },
  };
}
