import type { ChatContent, ChatMessage, ChatPart } from './chat-body.js';

/** Messages with neighbouring ones of one user as one, for a server that takes no system text but within theirs. */
export function joinedUsers(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const joined: ChatMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.role === 'user' && last?.role === 'user' && message.name === last.name)
      joined[joined.length - 1] = { ...last, content: both(last.content, message.content) };
    else joined.push(message);
  }
  return joined;
}

function both(first: ChatContent, second: ChatContent): ChatContent {
  if (typeof first === 'string' && typeof second === 'string') return `${first}\n\n${second}`;
  return [...partsIn(first), ...partsIn(second)];
}

function partsIn(content: ChatContent): readonly ChatPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}
