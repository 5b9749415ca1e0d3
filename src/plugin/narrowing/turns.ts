import type { ContentBlock, Message, TextBlock } from '../contract/messages.js';
import type { Narrowing } from './narrowing.js';

/**
 * Adapts turns to the Messages API: a user speaks first, no text is empty, a blank one stands beside a text or a call,
 * no answer ends in thinking or, as the last one, in white space. A turn without remaining content gets a text instead,
 * which is reported.
 */
export function narrowTurns(narrowing: Narrowing): void {
  const { messages } = narrowing.request;
  const end = messages.length - 1;
  if (messages.every(isTaken) && messages[0]?.role !== 'assistant' && messages[end]?.role !== 'assistant')
    return;
  const turns = messages.flatMap((message, at) => narrowedTurn(message, at, at === end, narrowing));
  const taken = fromUser(trimPrefill(turns));
  if (taken.length !== messages.length || taken.some((turn, at) => turn !== messages[at]))
    narrowing.set({ messages: taken });
}

/** True for a turn of texts alone, the usual one, without any changes. */
function isTaken({ content }: Message): boolean {
  if (typeof content === 'string') return content.trim() !== '';
  return content.length > 0 && content.every((block) => isText(block) && !isBlank(block));
}

/** The turn as accepted; none for an empty answer at the end, which leaves nothing to continue. */
function narrowedTurn(
  message: Message,
  at: number,
  isLast: boolean,
  narrowing: Narrowing,
): readonly Message[] {
  const { role, content } = message;
  if (role === 'system' || (typeof content === 'string' && content.trim() !== '')) return [message];
  const blocks: readonly ContentBlock[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const kept = role === 'assistant' ? withoutLastThoughts(takenBlocks(blocks)) : takenBlocks(blocks);
  if (kept.length > 0) return [kept === content ? message : { ...message, content: kept }];
  const isThought = blocks.some(({ type }) => type !== 'text');
  narrowing.lose(`messages[${at}]`, isThought ? 'content' : 'mend');
  if (isLast && role === 'assistant' && at > 0) return [];
  const text = isThought ? '[thinking left out: no answer follows it]' : '[empty message]';
  return [{ ...message, content: [{ type: 'text', text }] }];
}

/** Blocks without empty texts, and without blank ones unless there is a text or a call beside them. */
function takenBlocks(blocks: readonly ContentBlock[]): readonly ContentBlock[] {
  const isSaid = blocks.some((block) => block.type === 'tool_use' || (isText(block) && !isBlank(block)));
  const kept = blocks
    .filter((block) => !isText(block) || (isSaid ? block.text !== '' : !isBlank(block)))
    .map(withTakenResult);
  return kept.length === blocks.length && kept.every((block, at) => block === blocks[at]) ? blocks : kept;
}

/** A result without empty texts. */
function withTakenResult(block: ContentBlock): ContentBlock {
  if (block.type !== 'tool_result' || !Array.isArray(block.content)) return block;
  const content = takenBlocks(block.content);
  if (content === block.content) return block;
  const { content: _, ...rest } = block;
  return content.length > 0 ? { ...rest, content } : rest;
}

/** Refused by the API: thinking at the end of an answer that was cut there. */
function withoutLastThoughts(blocks: readonly ContentBlock[]): readonly ContentBlock[] {
  const end = blocks.findLastIndex(({ type }) => type !== 'thinking' && type !== 'redacted_thinking');
  return end === blocks.length - 1 ? blocks : blocks.slice(0, end + 1);
}

/** A last answer to continue, without white space at its end. */
function trimPrefill(turns: readonly Message[]): readonly Message[] {
  const last = turns.at(-1);
  if (last?.role !== 'assistant' || typeof last.content === 'string') return turns;
  const end = last.content.findLastIndex((block) => !isText(block) || !isBlank(block));
  const kept = last.content.slice(0, end + 1).map((block, at) => (at === end ? trimmed(block) : block));
  if (kept.length === last.content.length && kept.at(-1) === last.content.at(-1)) return turns;
  return [...turns.slice(0, -1), { ...last, content: kept }];
}

function trimmed(block: ContentBlock): ContentBlock {
  if (!isText(block)) return block;
  const text = block.text.trimEnd();
  return text === block.text ? block : { ...block, text };
}

function fromUser(turns: readonly Message[]): readonly Message[] {
  if (turns[0]?.role !== 'assistant') return turns;
  const text = '(The conversation begins with your answer.)';
  return [{ role: 'user', content: [{ type: 'text', text }] }, ...turns];
}

function isText(block: ContentBlock): block is TextBlock {
  return block.type === 'text';
}

function isBlank({ text }: TextBlock): boolean {
  return text.trim() === '';
}
