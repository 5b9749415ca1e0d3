import type { ChatMessage } from './chat-body.js';
import type { Conversion } from './content.js';

/** Moves each tool message right behind its call, as servers demand; one without an earlier call stays in place. */
export function answersInOrder(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const answers = answersById(messages);
  const moved = new Set<ChatMessage>();
  const ordered: ChatMessage[] = [];
  messages.forEach((message, at) => {
    if (moved.has(message)) return;
    ordered.push(message);
    if (message.role !== 'assistant') return;
    for (const { id } of message.tool_calls ?? []) {
      const answer = nextAfter(at, answers.get(id));
      if (!answer) continue;
      moved.add(answer);
      ordered.push(answer);
    }
  });
  return ordered;
}

interface Answers {
  readonly list: { readonly message: ChatMessage; readonly at: number }[];
  next: number;
}

function answersById(messages: readonly ChatMessage[]): ReadonlyMap<string, Answers> {
  const answers = new Map<string, Answers>();
  messages.forEach((message, at) => {
    if (message.role !== 'tool') return;
    const known = answers.get(message.tool_call_id) ?? { list: [], next: 0 };
    known.list.push({ message, at });
    answers.set(message.tool_call_id, known);
  });
  return answers;
}

/** First answer after a call that no other call has claimed; those before the call are for no later one either. */
function nextAfter(call: number, answers: Answers | undefined): ChatMessage | undefined {
  if (!answers) return undefined;
  while ((answers.list[answers.next]?.at ?? Infinity) < call) answers.next += 1;
  const claimed = answers.list[answers.next];
  answers.next += 1;
  return claimed?.message;
}

/** Puts a short assistant message between a tool message and a user's, for servers that refuse the two in a row. */
export function spaced(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  return messages.flatMap((message, at) =>
    message.role === 'user' && messages[at - 1]?.role === 'tool'
      ? [{ role: 'assistant', content: 'Done.' } as const, message]
      : [message],
  );
}

/** A last assistant message as the server continues it; a server that answers it instead is reported. */
export function withPrefill(
  messages: readonly ChatMessage[],
  { capabilities: { prefill }, dropped }: Conversion,
  path: string,
): readonly ChatMessage[] {
  const last = messages.at(-1);
  if (last?.role !== 'assistant' || last.tool_calls) return messages;
  if (prefill === 'none') dropped.add(path);
  return prefill === 'prefix' ? [...messages.slice(0, -1), { ...last, prefix: true }] : messages;
}
