import type { ChatBody, ChatMessage } from './body.js';
import { isEmptyThought } from './foreign-parts.js';
import { thoughtOfCall, thoughtsOf } from './thoughts.js';
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

function placeOf(message: ChatMessage, index: number): string {
  const { content, refusal, tool_calls: calls } = message;
  const parts =
    typeof content === 'string'
      ? ['.content']
      : (content ?? []).flatMap((part, at) => (isEmptyThought(part) ? [] : `.content[${at}]`));
  const called = (calls ?? []).flatMap((call, at) => [
    ...thoughtOfCall(call).map(() => `.tool_calls[${at}].extra_content`),
    `.tool_calls[${at}]`,
  ]);
  const thoughts = thoughtsOf(message).map(({ place }) => place);
  return [...thoughts, ...parts, ...(refusal ? ['.refusal'] : []), ...called][index] ?? '';
}
