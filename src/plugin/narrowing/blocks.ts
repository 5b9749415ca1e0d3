import type { ContentBlock, Message } from '../contract/messages.js';
import { reasoningEnvelope } from '../format/reasoning-envelope.js';
import type { Narrowing } from './narrowing.js';
import { createHash } from 'node:crypto';

/** Keeps the fields of blocks that the Messages API knows, and ids of calls in its alphabet. */
export function narrowBlocks(narrowing: Narrowing): void {
  const { messages } = narrowing.request;
  const narrowed = messages.map((message, at) =>
    narrowedMessage(message, `messages[${at}].content`, narrowing),
  );
  if (narrowed.some((message, at) => message !== messages[at])) narrowing.set({ messages: narrowed });
}

function narrowedMessage(message: Message, path: string, narrowing: Narrowing): Message {
  if (typeof message.content === 'string') return message;
  const content = narrowedContent(message.content, path, narrowing);
  return content === message.content ? message : { ...message, content };
}

function narrowedContent(
  blocks: readonly ContentBlock[],
  path: string,
  narrowing: Narrowing,
): readonly ContentBlock[] {
  const narrowed = blocks.map((block, at) => narrowedBlock(block, `${path}[${at}]`, narrowing));
  return narrowed.every((block, at) => block === blocks[at]) ? blocks : narrowed;
}

function narrowedBlock(block: ContentBlock, path: string, narrowing: Narrowing): ContentBlock {
  if (block.type === 'text' && 'phase' in block) return withoutField(block, 'phase', path, narrowing);
  if (block.type === 'tool_use') {
    const id = conformingName(block.id, Infinity);
    return id === block.id ? block : { ...block, id };
  }
  if ((block.type === 'document' || block.type === 'image') && isUnreadable(block)) {
    narrowing.lose(path, 'content');
    return { type: 'text', text: `[${nameOf(block)} left out: this model cannot read it]` };
  }
  if (block.type === 'thinking' && reasoningEnvelope.isSealed(block.signature))
    narrowing.lose(path, block.thinking === '' ? 'mend' : 'content');
  if (block.type === 'image' && 'detail' in block) return withoutField(block, 'detail', path, narrowing);
  return block.type === 'tool_result' ? narrowedResult(block, path, narrowing) : block;
}

type Media = Extract<ContentBlock, { type: 'document' | 'image' }>;

/** Media types that the Messages API reads; documents of text have no base64. */
const readTypes: Readonly<Record<Media['type'], RegExp>> = {
  document: /^application\/pdf$/,
  image: /^image\/(?:jpeg|png|gif|webp)$/,
};

function isUnreadable({ type, source }: Media): boolean {
  return source.type === 'base64' && !readTypes[type].test(source.media_type);
}

function nameOf(block: Media): string {
  if (block.type === 'image') return 'image';
  return block.title ? `file ${block.title}` : 'file';
}

function narrowedResult(
  block: Extract<ContentBlock, { type: 'tool_result' }>,
  path: string,
  narrowing: Narrowing,
): ContentBlock {
  const { content, tool_use_id } = block;
  const id = conformingName(tool_use_id, Infinity);
  const narrowed = Array.isArray(content) ? narrowedContent(content, `${path}.content`, narrowing) : content;
  if (id === tool_use_id && narrowed === content) return block;
  return { ...block, tool_use_id: id, ...(narrowed !== undefined && { content: narrowed }) };
}

function withoutField(
  block: ContentBlock,
  field: 'detail' | 'phase',
  path: string,
  narrowing: Narrowing,
): ContentBlock {
  const { [field]: value, ...others } = block;
  if (value !== 'auto') narrowing.lose(`${path}.${field}`, field === 'phase' ? 'mend' : 'setting');
  return others;
}

/** `text` if it conforms to `^[a-zA-Z0-9_-]{1,maxLength}$`, else a unique name derived from it, always the same. */
export function conformingName(text: string, maxLength: number): string {
  if (text.length <= maxLength && /^[a-zA-Z0-9_-]+$/.test(text)) return text;
  const mark = `_${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;
  return text.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, maxLength - mark.length) + mark;
}
