import type { ContentBlock, Message, MessagesRequest, SlotCall } from '@gw2api/gateway/plugin';

/** Text that stands in front of system text within a turn of the user. */
export const systemMark = '[System] ';

/**
 * Request as a Messages upstream gets it: for callers of other formats with late system text in user turns, as not
 * every model takes it elsewhere.
 */
export function withoutLateSystem<Request extends Pick<MessagesRequest, 'messages'>>(
  request: Request,
  { isTranslated = false }: Pick<SlotCall, 'isTranslated'>,
): Request {
  if (!isTranslated || !request.messages.some(isSystem)) return request;
  return { ...request, messages: withSystemInTurns(request.messages) };
}

function isSystem({ role }: Message): boolean {
  return role === 'system';
}

/** Messages without system ones: their text is appended to the user turn before, or becomes its own turn. */
function withSystemInTurns(messages: readonly Message[]): readonly Message[] {
  const turns: { readonly role: Message['role']; readonly content: ContentBlock[] }[] = [];
  for (const message of messages) {
    const turn = asUserTurn(message);
    const { role } = turn;
    const blocks = blocksOf(turn);
    const last = turns.at(-1);
    if (role === 'user' && last?.role === role) for (const block of blocks) last.content.push(block);
    else turns.push({ ...message, role, content: [...blocks] });
  }
  return turns;
}

/** System text as a turn of the user; any other message as it is. */
export function asUserTurn(message: Message): Message {
  return isSystem(message) ? { ...message, role: 'user', content: blocksOf(message).map(marked) } : message;
}

function blocksOf({ content }: Message): readonly ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function marked(block: ContentBlock): ContentBlock {
  return block.type === 'text' ? { ...block, text: systemMark + block.text } : block;
}
