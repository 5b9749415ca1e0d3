import type { BlockOf, ContentBlock, Message, MessagesRequest } from '@gw2api/gateway/plugin';
import { first } from './shape.js';

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

/** System messages stand between turns without parting them. */
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
