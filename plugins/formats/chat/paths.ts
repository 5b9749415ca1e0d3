import type { ChatBody, ChatMessage } from './body.js';
import { isUnsigned } from './foreign-parts.js';
import type { BlockPath } from '../shared/content-paths.js';

/** Paths of the blocks that were made of a message: thinking first, then content, a refusal, and calls. */
export function chatBlockPath({ messages }: ChatBody): BlockPath {
  return ({ path, index }, rest) => {
    const message = messages[Number(/\[(\d+)\]/.exec(path)?.[1])];
    if (message?.role === 'tool' || message?.role === 'function') return `${path}${rest || '.content'}`;
    const place = message ? placeOf(message, index) : '';
    return `${path}${place}${rest.replace(/^\.detail$/, '.image_url.detail')}`;
  };
}

function placeOf(
  { content, refusal, reasoning_details: details, tool_calls: calls }: ChatMessage,
  index: number,
): string {
  const parts =
    typeof content === 'string'
      ? ['.content']
      : (content ?? []).flatMap((part, at) => (isUnsigned(part) ? [] : `.content[${at}]`));
  const others = [...(refusal ? ['.refusal'] : []), ...(calls ?? []).map((_, at) => `.tool_calls[${at}]`)];
  const isThinking = (details ?? []).length > 0 && index < (details ?? []).length;
  if (isThinking) return `.reasoning_details[${index}]`;
  return [...parts, ...others][index - (details ?? []).length] ?? '';
}
