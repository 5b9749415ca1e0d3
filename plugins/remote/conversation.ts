import type { MessagesRequest, MessagesResponse, ModelEvent } from '@gw2api/gateway/plugin';
import { MessageFold } from '@gw2api/gateway/plugin/upstream';
import type { CallSignal } from '@gw2api/gateway/plugin/raw';
import type { DenyReply, ReviewChunk, ReviewVerdict } from '@gw2api/gateway/plugin/remote';

/** Verdict on a request. */
export type RequestVerdict =
  | { readonly kind: 'allow' }
  | { readonly kind: 'deny'; readonly reply: Pick<DenyReply, 'status' | 'message' | 'retryAfter'> }
  | { readonly kind: 'refuse'; readonly message: string }
  | { readonly kind: 'change'; readonly request: MessagesRequest };

/** Verdict on a whole answer; `change`: its events with other content. */
export type AnswerVerdict =
  | Exclude<ReviewVerdict, { readonly kind: 'hold' | 'allow' }>
  | { readonly kind: 'allow' };

/** A whole answer, and its events. */
export interface WholeAnswer {
  readonly message: MessagesResponse;
  readonly events: readonly ModelEvent[];
}

/** Questions about one run of a request. All throw `stage_failed`, and the reason of the signal. */
export interface Conversation {
  aboutRequest(request: MessagesRequest, until: CallSignal): Promise<RequestVerdict>;
  /** `request`: that of the answer. */
  aboutAnswer(request: MessagesRequest, answer: WholeAnswer, until: CallSignal): Promise<AnswerVerdict>;
  aboutEvents(request: MessagesRequest, chunk: ReviewChunk, until: CallSignal): Promise<ReviewVerdict>;
}

/** Text of a refusal without one of its own. */
export const refusalText = 'Refused by a rule of this gateway.';

/** The answer that events fold to; throws its failure. */
export function messageOf(events: readonly ModelEvent[]): MessagesResponse {
  const fold = new MessageFold();
  for (const event of events) fold.add(event);
  return fold.message();
}
