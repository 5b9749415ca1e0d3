/** `@gw2api/gateway/plugin/remote`: the protocol between a gateway and its remote stages, for both sides. */
export { changedExtras, changedRequest } from './changed-request.js';
export { maxStateBytes } from './document.js';
export { EventGrammar } from './event-grammar.js';
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
export { signedHeaders, signingKey } from './signature.js';
export type { SignedMessage } from './signature.js';
