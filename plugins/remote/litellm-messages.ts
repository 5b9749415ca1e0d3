import type { MessagesRequest } from '@gw2api/gateway/plugin';
import { inputJson } from '@gw2api/gateway/plugin/upstream';
import { contentTexts } from '../shared/request-texts.js';

/**
 * Messages of a request in the Chat format, from a request that nobody has checked. Their texts are the content of the
 * request in its order, so that a guard can tell the role of each.
 */
export function chatMessages(
  { system, messages }: MessagesRequest,
  options: { readonly system: boolean },
): readonly object[] {
  const isSeen = (message: unknown): boolean => options.system || fieldsOf(message).role !== 'system';
  const prompt = options.system && system !== undefined ? [{ role: 'system', content: system }] : [];
  return [...prompt, ...listOf(messages).filter(isSeen)].flatMap(chatMessage);
}

/** Calls of tools in messages or blocks, in the Chat format. */
export function toolCalls(blocks: readonly unknown[]): readonly object[] {
  return blocks.map(fieldsOf).flatMap(({ type, id, name, input }) => {
    if (type !== 'tool_use') return [];
    return [{ id, type: 'function', function: { name, arguments: inputJson(input) } }];
  });
}

/** All blocks of all messages. */
export function blocksOf({ messages }: MessagesRequest): readonly unknown[] {
  return listOf(messages).flatMap((message) => listOf(fieldsOf(message).content));
}

/** URL of an image, or those of the images of a tool's result. */
export function imageUrls(block: unknown): readonly string[] {
  const { type, source, content } = fieldsOf(block);
  const { url, media_type: mediaType, data } = fieldsOf(source);
  if (type === 'tool_result') return listOf(content).flatMap(imageUrls);
  if (type !== 'image') return [];
  if (typeof url === 'string') return [url];
  return typeof data === 'string' ? [`data:${String(mediaType)};base64,${data}`] : [];
}

/** A message, with a message of its own for each result of a tool. */
function chatMessage(message: unknown): readonly object[] {
  const { role: given, content } = fieldsOf(message);
  const role = typeof given === 'string' ? given : 'user';
  if (!Array.isArray(content)) return [{ role, content: contentTexts(message)[0] ?? null }];
  const runs: unknown[][] = [];
  for (const block of content as readonly unknown[]) {
    const last = runs.at(-1);
    if (last && !isResult(block) && !isResult(last[0])) last.push(block);
    else runs.push([block]);
  }
  return runs.map((run) => {
    const { content: result, tool_use_id: id } = fieldsOf(run[0]);
    if (isResult(run[0])) return { role: 'tool', tool_call_id: id, content: chatContent([result].flat()) };
    const calls = toolCalls(run);
    return { role, content: chatContent(run), ...(calls.length > 0 && { tool_calls: calls }) };
  });
}

/** Content of a message: a text, or parts; null if it has none. */
function chatContent(blocks: readonly unknown[]): unknown {
  const parts = blocks.flatMap((block): readonly object[] => [
    ...contentTexts(block).map((text) => ({ type: 'text', text })),
    ...imageUrls(block).map((url) => ({ type: 'image_url', image_url: { url } })),
  ]);
  const texts = blocks.flatMap(contentTexts);
  if (parts.length === 0) return null;
  return parts.length === 1 && texts.length === 1 ? texts[0] : parts;
}

function isResult(block: unknown): boolean {
  return fieldsOf(block).type === 'tool_result';
}

type Named = 'role' | 'content' | 'type' | 'id' | 'name' | 'input' | 'tool_use_id' | 'source';
type Fields = Readonly<Partial<Record<Named | 'url' | 'media_type' | 'data', unknown>>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
