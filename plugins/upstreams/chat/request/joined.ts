import type { Capabilities } from '../capabilities.js';
import type { AssistantMessage, ChatContent, ChatMessage } from './chat-body.js';
import { noContent } from './assistant.js';
import { contentOf } from './content.js';
import { partsIn } from './late-system.js';

/** Messages with neighbours of one role and name as one, for servers whose templates demand that roles alternate. */
export function joined(messages: readonly ChatMessage[], capabilities: Capabilities): readonly ChatMessage[] {
  const { textParts, cacheControl } = capabilities;
  const turns: ChatMessage[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (message.role === 'user' && last?.role === 'user' && message.name === last.name)
      turns[turns.length - 1] = {
        ...last,
        content: both(last.content, message.content, textParts || cacheControl),
      };
    else if (message.role === 'assistant' && last?.role === 'assistant' && message.name === last.name)
      turns[turns.length - 1] = oneAnswer(last, message, capabilities);
    else turns.push(message);
  }
  return turns;
}

function oneAnswer(
  first: AssistantMessage,
  second: AssistantMessage,
  { cacheControl, contentBesideCalls }: Capabilities,
): AssistantMessage {
  const content = both(first.content ?? '', second.content ?? '', cacheControl);
  const calls = [...(first.tool_calls ?? []), ...(second.tool_calls ?? [])];
  const details = [...(first.reasoning_details ?? []), ...(second.reasoning_details ?? [])];
  return {
    ...first,
    ...second,
    content: content === '' && calls.length > 0 ? noContent[contentBesideCalls] : content,
    ...text('reasoning_content', first, second),
    ...text('reasoning', first, second),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function both(first: ChatContent, second: ChatContent, asParts: boolean): ChatContent {
  return contentOf([...partsIn(first), ...partsIn(second)], '\n\n', asParts);
}

function text(
  field: 'reasoning_content' | 'reasoning',
  { [field]: first }: AssistantMessage,
  { [field]: second }: AssistantMessage,
): Partial<AssistantMessage> {
  return first === undefined && second === undefined ? {} : { [field]: (first ?? '') + (second ?? '') };
}
