import { systemMark } from '../../shared/late-system.js';
import type { Capabilities } from '../capabilities.js';
import type { ChatContent, ChatMessage, ChatPart } from './chat-body.js';
import { contentOf } from './content.js';

/**
 * Messages without system ones, for a server that takes those only at the front: their text is marked, and
 * appended to the user message right before, or to the last tool message where no user may follow one.
 * Elsewhere it is a user message of its own.
 */
export function withoutSystem(
  messages: readonly ChatMessage[],
  { userAfterTool, textParts, cacheControl }: Capabilities,
): readonly ChatMessage[] {
  const turns: ChatMessage[] = [];
  for (const message of messages) {
    if (message.role !== 'system' && message.role !== 'developer') {
      turns.push(message);
      continue;
    }
    const parts = partsIn(message.content).map(marked);
    const last = turns.at(-1);
    if (last?.role === 'user' || (last?.role === 'tool' && !userAfterTool)) {
      const asParts = cacheControl || (textParts && last.role === 'user');
      turns[turns.length - 1] = {
        ...last,
        content: contentOf([...partsIn(last.content), ...parts], '\n\n', asParts),
      };
    } else turns.push({ role: 'user', content: contentOf(parts, '\n\n', cacheControl || textParts) });
  }
  return turns;
}

/** Content as parts. */
export function partsIn(content: ChatContent): readonly ChatPart[] {
  if (typeof content !== 'string') return content;
  return content === '' ? [] : [{ type: 'text', text: content }];
}

function marked(part: ChatPart): ChatPart {
  return part.type === 'text' ? { ...part, text: systemMark + part.text } : part;
}
