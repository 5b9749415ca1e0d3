import type { ContentBlock, Message, MessagesRequest } from '@gw2api/gateway/plugin';
import { pairingProblem } from './pairing-rules.js';
import { isIntact, isIntactContent } from './seal.js';
import { first, isObject } from './shape.js';

/**
 * First problem of the messages: roles, empty texts, signatures, tool calls without results and the reverse.
 */
export function historyProblem(request: MessagesRequest): string | undefined {
  const { messages } = request;
  if (messages.length === 0) return 'messages: at least one message is required';
  if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  return (
    first(messages, messageProblem) ??
    pairingProblem(request) ??
    undeclaredProblem(request) ??
    prefillProblem(messages.at(-1))
  );
}

function messageProblem({ role, content }: Message, at: number): string | undefined {
  if (typeof content === 'string') return content === '' ? emptyContent(at) : undefined;
  if (content.length === 0) return role === 'user' ? emptyContent(at) : undefined;
  return first(content, (block, index) => blockProblem(block, role, `messages.${at}.content.${index}`));
}

function emptyContent(at: number): string {
  return `messages.${at}: all messages must have non-empty content except for the optional final assistant message`;
}

function blockProblem(block: ContentBlock, role: Message['role'], path: string): string | undefined {
  const owner = roleOf[block.type];
  if (owner && owner !== role)
    return `${path}: \`${block.type}\` blocks can only be in \`${owner}\` messages`;
  return blockRules[block.type]?.(block, path);
}

const roleOf: Readonly<Record<string, Message['role']>> = {
  tool_use: 'assistant',
  server_tool_use: 'assistant',
  thinking: 'assistant',
  redacted_thinking: 'assistant',
  tool_result: 'user',
  image: 'user',
  document: 'user',
};

const blockRules: Readonly<Record<string, (block: ContentBlock, path: string) => string | undefined>> = {
  text: (block, path) => {
    if (block.type !== 'text' || block.text !== '') return undefined;
    return block.cache_control
      ? `${path}.text: cache_control cannot be set for empty text blocks`
      : 'messages: text content blocks must be non-empty';
  },
  thinking: (block, path) =>
    block.type === 'thinking' && !isIntact(block.thinking, block.signature)
      ? `${path}: Invalid \`signature\` in \`thinking\` block`
      : undefined,
  redacted_thinking: (block, path) =>
    block.type === 'redacted_thinking' && !isIntactContent('redacted', block.data)
      ? `${path}: Invalid \`data\` in \`redacted_thinking\` block`
      : undefined,
  web_search_tool_result: (block, path) =>
    Array.isArray(block['content']) && !block['content'].every(isIntactResult)
      ? `${path}: Invalid \`encrypted_content\` in \`search_result\` block`
      : undefined,
};

function undeclaredProblem({ messages, tools = [] }: MessagesRequest): string | undefined {
  const hasCalls = messages.some(
    ({ content }) =>
      typeof content !== 'string' &&
      content.some(({ type }) => type === 'tool_use' || type === 'tool_result'),
  );
  return hasCalls && tools.length === 0
    ? 'Requests which include `tool_use` or `tool_result` blocks must define tools.'
    : undefined;
}

/** An assistant message at the end is the beginning of the answer. */
function prefillProblem(last: Message | undefined): string | undefined {
  if (last?.role !== 'assistant') return undefined;
  const block = typeof last.content === 'string' ? last.content : last.content.at(-1);
  const text = typeof block === 'string' ? block : block?.type === 'text' ? block.text : '';
  return text.trimEnd() === text
    ? undefined
    : 'messages: final assistant content cannot end with trailing whitespace';
}

function isIntactResult(result: unknown): boolean {
  const content = isObject(result) ? result['encrypted_content'] : undefined;
  return typeof content !== 'string' || isIntactContent('search', content);
}
