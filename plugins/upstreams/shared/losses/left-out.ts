import type { ContentBlock, Message } from '@gw2api/gateway/plugin';

/**
 * Text instead of blocks that a receiver does not read, for a turn or a result without any others. `isTextOnly`: it
 * reads no images at all.
 */
export function leftOutText(blocks: readonly ContentBlock[], isTextOnly = false): string {
  const tools = blocks.filter(isReference).map((block) => block['tool_name']);
  const notes = blocks
    .filter((block) => !isReference(block))
    .map((block) => `[${nameOf(block)} left out: ${reasonOf(block, isTextOnly)}]`);
  return [...(tools.length > 0 ? [`Loaded tools: ${tools.join(', ')}`] : []), ...new Set(notes)].join('\n');
}

/** Message without some of its blocks; a text if no others remain. */
export function withoutBlocks(message: Message, isLost: (block: ContentBlock) => boolean): Message {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const kept = content.filter((block: ContentBlock) => !isLost(block));
  if (kept.length > 0) return { ...message, content: kept };
  return { ...message, content: [{ type: 'text', text: leftOutText(content) }] };
}

/** Result of a tool search: a tool that the model may call afterwards. */
function isReference({ type }: { readonly type: string }): boolean {
  return type === 'tool_reference';
}

function nameOf({ type }: ContentBlock): string {
  return isThinking(type) ? 'thinking' : type.slice(0, 64);
}

function reasonOf({ type }: ContentBlock, isTextOnly: boolean): string {
  if (isThinking(type)) return 'only the model that wrote it can read it';
  return type === 'image' && isTextOnly ? 'this model reads text only' : 'this model cannot read it';
}

function isThinking(type: string): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}
