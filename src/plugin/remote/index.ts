/** `@gw2api/gateway/plugin/remote`: the protocol between a gateway and its remote stages, for both sides. */
export { withChangedExtras } from './change/changed-extras.js';
export { withContent } from './change/content.js';
export { changedEvents, eventsJson } from './change/events.js';
export { merged } from './change/merge.js';
export { changedRequest, requestView, viewJson } from './change/request.js';
export { credentialNames } from '../../kit/credential-names.js';
export { maxStateBytes } from './document.js';
export { questionSchema, requestParts } from './question.js';
export type { RemotePhase, RemoteQuestion, RequestPart, RequestView } from './question.js';
export { checkedReply, replyFault, replySchema } from './reply.js';
export type {
  AllowReply,
  AnswerChange,
  ChangedParts,
  DenyReply,
  EventsChange,
  HoldReply,
  PatchOperation,
  RefuseReply,
  RemoteReplies,
  RemoteReply,
  RequestChange,
} from './reply.js';
export { refusalEvents } from './review/refusal.js';
export { AnswerGrammar } from './review/grammar.js';
export { observed } from './review/observed.js';
export type { ObserveOptions } from './review/observed.js';
export { reviewed } from './review/review.js';
export type { ReviewedEvents, Reviewer, ReviewOptions } from './review/review.js';
export type { ReviewChunk, ReviewVerdict } from './review/verdict.js';
export { signedHeaders, signingKey } from './signature.js';
export type { SignedMessage } from './signature.js';
