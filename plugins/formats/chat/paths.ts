import type { ChatBody, ChatMessage } from './body.js';
import { isEmptyThought } from './foreign-parts.js';
import { thoughtOfCall, thoughtsOf } from './thoughts.js';
import { markerField } from '../shared/cache-markers.js';
import type { ToolPath } from '../shared/caller-paths.js';
import type { BlockPath } from '../shared/content-paths.js';

/** Paths of the blocks that were made of a message: thinking first, then content, a refusal, and calls. */
export function chatBlockPath({ messages }: ChatBody): BlockPath {
  return ({ path, index }, rest) => {
    const message = messages[Number(/\[(\d+)\]/.exec(path)?.[1])];
    if (message?.role === 'tool' || message?.role === 'function') return `${path}${rest || '.content'}`;
    if (rest === '.cache_control' && message) return `${path}${markerPath(message, index)}`;
    const place = message ? placeOf(message, index) : '';
    return `${path}${place}${rest.replace(/^\.detail$/, '.image_url.detail')}`;
  };
}

/** Places of a tool, whose marker may stand beside its definition. */
export function chatToolPath({ tools }: ChatBody, at: ToolPath | undefined): ToolPath | undefined {
  if (!at) return undefined;
  const tool = tools?.[Number(/^tools\[(\d+)\]$/.exec(at.tool)?.[1])];
  return tool?.cache_control ? { ...at, marker: `${at.tool}.cache_control` } : at;
}

/** Place of the marker of a block: on its part, else on the message. */
function markerPath(message: ChatMessage, index: number): string {
  const place = placeOf(message, index);
  const at = /^\.content\[(\d+)\]$/.exec(place)?.[1];
  const part =
    at === undefined || typeof message.content === 'string' ? undefined : message.content?.[Number(at)];
  const field = part && markerField(part);
  return field ? `${place}.${field}` : '.cache_control';
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
