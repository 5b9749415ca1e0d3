import { systemMark } from '../../shared/late-system.js';
import type { Capabilities } from '../capabilities.js';
import type { ChatMessage, ChatPart } from './chat-body.js';
import { contentOf, partsIn } from './content.js';
import { GrowingContent } from './growing-content.js';

/**
 * Messages without system ones, for a server that takes those only at the front: their text is marked, and
 * appended to the user message right before, or to the last tool message where no user may follow one.
 * Elsewhere it is a user message of its own.
 */
export function withoutSystem(
  messages: readonly ChatMessage[],
  { userAfterTool, textParts, cacheControl }: Capabilities,
): readonly ChatMessage[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    if (message.role !== 'system' && message.role !== 'developer') {
      turns.push({ message });
      continue;
    }
    const parts = partsIn(message.content).map(marked);
    const last = turns.at(-1);
    const { role, content } = last?.message ?? {};
    if (last && (role === 'user' || (role === 'tool' && !userAfterTool))) {
      last.content ??= new GrowingContent(content ?? '');
      last.content.add(parts, cacheControl || (textParts && role === 'user'));
    } else {
      const asParts = cacheControl || textParts;
      turns.push({ message: { role: 'user', content: contentOf(parts, '\n\n', asParts) } });
    }
  }
  return turns.map(written);
}

interface Turn {
  readonly message: ChatMessage;
  /** Content with system text behind it. */
  content?: GrowingContent;
}

function written({ message, content }: Turn): ChatMessage {
  return content ? { ...message, content: content.content } : message;
}

function marked(part: ChatPart): ChatPart {
  return part.type === 'text' ? { ...part, text: systemMark + part.text } : part;
}
