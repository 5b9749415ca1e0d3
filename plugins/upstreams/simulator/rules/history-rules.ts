import type { ContentBlock, Message, MessagesRequest, BlockOf } from '@gw2api/gateway/plugin';
import { isIntact, isIntactContent } from '../answer/seal.js';
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

/** Problem of an assistant message at the end, the beginning of the answer. */
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

/** Neighbours of one role, which the service reads as one message; `at` is the first one's index. */
interface Turn {
  readonly role: Message['role'];
  readonly at: number;
  readonly content: readonly ContentBlock[];
}

/** First problem of a history's tool calls: each needs one result, at the start of the very next turn. */
export function pairingProblem({ messages, thinking }: MessagesRequest): string | undefined {
  const turns = toTurns(messages);
  const ids = turns.flatMap(({ content }) => content.filter(isToolUse)).map(({ id }) => id);
  if (new Set(ids).size < ids.length) return 'messages: `tool_use` ids must be unique';
  return (
    first(turns, (turn, at) =>
      turn.role === 'assistant'
        ? missingResults(turn, turns[at + 1])
        : unexpectedResults(turn, turns[at - 1]),
    ) ?? (thinking?.type === 'enabled' ? thinkingMissing(turns.slice(-2)) : undefined)
  );
}

/** Turns of messages; system messages do not separate the turns around them. */
function toTurns(messages: readonly Message[]): readonly Turn[] {
  const turns: (Turn & { readonly content: ContentBlock[] })[] = [];
  messages.forEach(({ role, content }, at) => {
    if (role === 'system') return;
    const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
    const last = turns.at(-1);
    if (last?.role === role) for (const block of blocks) last.content.push(block);
    else turns.push({ role, at, content: [...blocks] });
  });
  return turns;
}

function missingResults({ at, content }: Turn, next: Turn | undefined): string | undefined {
  const answers = next?.content ?? [];
  const end = answers.findIndex((block) => !isToolResult(block));
  const answered = new Set(
    (end < 0 ? answers : answers.slice(0, end)).filter(isToolResult).map(({ tool_use_id: id }) => id),
  );
  const missing = content.filter(isToolUse).filter(({ id }) => !answered.has(id));
  if (missing.length === 0) return undefined;
  return (
    `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ` +
    `${missing.map(({ id }) => id).join(', ')}. Each \`tool_use\` block must have a corresponding ` +
    '`tool_result` block in the next message.'
  );
}

function unexpectedResults({ at, content }: Turn, previous: Turn | undefined): string | undefined {
  const asked = new Set((previous?.content ?? []).filter(isToolUse).map(({ id }) => id));
  const seen = new Set<string>();
  return first(content, (block, index) => {
    if (!isToolResult(block)) return undefined;
    const { tool_use_id: id } = block;
    const path = `messages.${at}.content.${index}`;
    if (seen.has(id))
      return `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`;
    seen.add(id);
    if (asked.has(id)) return undefined;
    return (
      `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` ` +
      'block must have a corresponding `tool_use` block in the previous message.'
    );
  });
}

/** With a thinking budget, the turn whose tools are being answered must begin with its thinking. */
function thinkingMissing([asking, answering]: readonly Turn[]): string | undefined {
  if (asking?.role !== 'assistant' || !answering?.content.some(isToolResult)) return undefined;
  const found = asking.content[0]?.type;
  if (found === 'thinking' || found === 'redacted_thinking') return undefined;
  return (
    `messages.${asking.at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${found}\`. ` +
    'When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the ' +
    'lastmost set of `tool_use` and `tool_result` blocks).'
  );
}

function isToolUse(block: ContentBlock): block is BlockOf<'tool_use'> {
  return block.type === 'tool_use';
}

function isToolResult(block: ContentBlock): block is BlockOf<'tool_result'> {
  return block.type === 'tool_result';
}
