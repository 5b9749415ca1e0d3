import type { ContentBlock, Loss, Message, MessagesRequest, SlotCall } from '@gw2api/gateway/plugin';
import { withoutBlocks } from '../losses/left-out.js';
import { isSealed } from '../reasoning-envelope.js';
import type { FindPart } from '../losses/refused-part.js';

const signature = 'thinking.signature';

/** Finds thinking of another account in the turns before the session was moved. */
export const findEarlierThinking: FindPart = (said, { moved, request }) => {
  if (!moved || !aboutSignature.test(said)) return undefined;
  return turnsWith(request, moved.doubtful).length > turnsWith(request, moved.foreign).length
    ? { without: signature, isOfModel: false, isOfSession: true, isAsked: false }
    : undefined;
};

const aboutSignature =
  /signature.{0,80}thinking|thinking.{0,80}(?:signature|bound to)|redacted_thinking.{0,80}data|data.{0,80}redacted_thinking/;

export interface WithoutThinking {
  readonly request: MessagesRequest;
  readonly losses: readonly Loss[];
}

/** The request without signed thinking that the account of the slot refuses, which is reported turn by turn. */
export function withoutEarlierThinking({ request, moved, without }: SlotCall): WithoutThinking {
  const count = without?.has(signature) ? moved?.doubtful : moved?.foreign;
  const turns = count ? turnsWith(request, count) : [];
  if (turns.length === 0) return { request, losses: [] };
  const lost = new Set(turns);
  const messages = request.messages.map((message, at) =>
    lost.has(at) ? withoutBlocks(message, isSigned) : message,
  );
  return {
    request: { ...request, messages },
    losses: turns.map((at) => ({ path: `messages[${at}]`, kind: 'mend' })),
  };
}

/** Places of the first messages with signed thinking; a Messages request is not validated. */
function turnsWith({ messages }: MessagesRequest, count: number): readonly number[] {
  if (!Array.isArray(messages)) return [];
  return messages.slice(0, count).flatMap((message, at) => (hasSigned(message) ? [at] : []));
}

function hasSigned(message: Message | null): boolean {
  return message?.role === 'assistant' && Array.isArray(message.content) && message.content.some(isSigned);
}

function isSigned(block: ContentBlock | null): boolean {
  if (block?.type === 'redacted_thinking') return true;
  return block?.type === 'thinking' && !isSealed(block.signature);
}
