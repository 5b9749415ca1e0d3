import type { Capabilities } from '../capabilities.js';
import type { AssistantMessage, ChatContent, ChatMessage } from './chat-body.js';
import { noContent } from './assistant.js';
import { partsIn } from './content.js';
import { GrowingContent } from './growing-content.js';

/** Messages with neighbours of one role and name as one, for servers whose templates demand that roles alternate. */
export function joined(messages: readonly ChatMessage[], capabilities: Capabilities): readonly ChatMessage[] {
  return neighbours(messages).map((run) => {
    const [first] = run;
    if (run.length === 1) return first;
    const answers = run.filter(isAnswer);
    if (isAnswer(first)) return oneAnswer([first, ...answers.slice(1)], capabilities);
    const { textParts, cacheControl } = capabilities;
    return { ...first, content: contentOfAll(run, textParts || cacheControl) };
  });
}

type Run<Message extends ChatMessage = ChatMessage> = readonly [Message, ...Message[]];

/** Users or answers in a row, of one name; any other message by itself. */
function neighbours(messages: readonly ChatMessage[]): readonly Run[] {
  const runs: [ChatMessage, ...ChatMessage[]][] = [];
  for (const message of messages) {
    const run = runs.at(-1);
    if (run && isLike(message, run[0])) run.push(message);
    else runs.push([message]);
  }
  return runs;
}

function isLike(message: ChatMessage, first: ChatMessage): boolean {
  if (message.role === 'user') return first.role === 'user' && message.name === first.name;
  return isAnswer(message) && isAnswer(first) && message.name === first.name;
}

function isAnswer(message: ChatMessage): message is AssistantMessage {
  return message.role === 'assistant';
}

function oneAnswer(
  answers: Run<AssistantMessage>,
  { cacheControl, contentBesideCalls }: Capabilities,
): AssistantMessage {
  const content = contentOfAll(answers, cacheControl);
  const calls = answers.flatMap(({ tool_calls: own }) => own ?? []);
  const details = answers.flatMap(({ reasoning_details: own }) => own ?? []);
  const merged: AssistantMessage = { ...answers[0] };
  for (const answer of answers) Object.assign(merged, answer);
  return {
    ...merged,
    content: content === '' && calls.length > 0 ? noContent[contentBesideCalls] : content,
    ...text('reasoning_content', answers),
    ...text('reasoning', answers),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function contentOfAll([first, ...others]: Run, asParts: boolean): ChatContent {
  const all = new GrowingContent(first.content ?? '');
  for (const { content } of others) all.add(partsIn(content ?? ''), asParts);
  return all.content;
}

function text(
  field: 'reasoning_content' | 'reasoning',
  answers: readonly AssistantMessage[],
): Partial<AssistantMessage> {
  if (answers.every((answer) => answer[field] === undefined)) return {};
  return { [field]: answers.map((answer) => answer[field] ?? '').join('') };
}
