import { Type, type Static, type TSchema } from 'typebox';
import { compileCheck, formatPath } from '../../kit/schema/check.js';
import { isRecord } from '../../kit/schema/record.js';
import { Closed } from '../../kit/schema/type.js';
import { documentOf, Json, maxStateBytes } from './document.js';
import type { RemotePhase } from './question.js';

/** Max length of a message for callers. */
const Message = Type.String({ minLength: 1, maxLength: 500 });
const Fields = Type.Object({});

/** Max operations of a patch. */
const maxOperations = 1000;

const always = {
  version: Type.Literal(1),
  state: Type.Optional({
    ...Json,
    description: `Sent with the next question of the request: at most ${maxStateBytes} bytes of JSON.`,
  }),
  tags: Type.Optional(
    Type.Record(Type.String({ pattern: '^[A-Za-z0-9_.-]{1,40}$' }), Type.String(), {
      additionalProperties: false,
      maxProperties: 8,
      description: 'Usage tags of the ledger.',
    }),
  ),
};

const Pointer = Type.String({ pattern: '^(?:/[^/]*)+$', maxLength: 2000 });

/** Operation of RFC 6902 on the `request` of the question. */
const PatchOperation = Type.Union([
  Type.Object({ op: Type.Enum(['add', 'replace', 'test']), path: Pointer, value: Json }),
  Type.Object({ op: Type.Literal('remove'), path: Pointer }),
  Type.Object({ op: Type.Enum(['move', 'copy']), from: Pointer, path: Pointer }),
]);
export type PatchOperation = Static<typeof PatchOperation>;

/** Parts in place of those of the request; null removes one. */
const ChangedParts = Closed({
  messages: Type.Optional(Type.Array(Fields, { minItems: 1 })),
  prediction: Type.Optional(Json),
  system: Type.Optional(Type.Union([Type.String(), Type.Array(Fields), Type.Null()])),
  tools: Type.Optional(Type.Union([Type.Array(Fields), Type.Null()])),
  model: Type.Optional(Type.String({ minLength: 1 })),
  extras: Type.Optional(
    Type.Union([Type.Array(Closed({ place: Type.String(), extras: Fields })), Type.Null()]),
  ),
});
export type ChangedParts = Static<typeof ChangedParts>;

const Allow = Closed({ ...always, verdict: Type.Literal('allow') });

const Deny = Closed({
  ...always,
  verdict: Type.Literal('deny'),
  status: Type.Optional(Type.Enum([400, 403, 429], { default: 403 })),
  message: Type.Optional(Message),
  retryAfter: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 31_536_000, description: 'Seconds, for the header retry-after.' }),
  ),
});

const Refuse = Closed({ ...always, verdict: Type.Literal('refuse'), message: Type.Optional(Message) });

const change = { ...always, verdict: Type.Literal('change') };

const ChangeBySet = Closed({ ...change, set: ChangedParts });
const ChangeByPatch = Closed({ ...change, patch: Type.Array(PatchOperation, { maxItems: maxOperations }) });
const ChangeContent = Closed({ ...change, content: Type.Array(Fields) });
const ChangeEvents = Closed({ ...change, events: Type.Array(Fields) });

const Hold = Closed({ ...always, verdict: Type.Literal('hold') });

export type AllowReply = Static<typeof Allow>;
export type DenyReply = Static<typeof Deny>;
export type RefuseReply = Static<typeof Refuse>;
export type RequestChange = Static<typeof ChangeBySet> | Static<typeof ChangeByPatch>;
export type AnswerChange = Static<typeof ChangeContent>;
export type EventsChange = Static<typeof ChangeEvents>;
export type HoldReply = Static<typeof Hold>;

/** Replies by the phase of their question. */
export interface RemoteReplies {
  readonly request: AllowReply | DenyReply | RefuseReply | RequestChange;
  readonly answer: AllowReply | RefuseReply | AnswerChange;
  readonly events: AllowReply | RefuseReply | EventsChange | HoldReply;
}

/** Reply of a remote stage: the body of an answer with status 200. */
const RemoteReply = Type.Union([
  Allow,
  Deny,
  Refuse,
  ChangeBySet,
  ChangeByPatch,
  ChangeContent,
  ChangeEvents,
  Hold,
]);
export type RemoteReply = Static<typeof RemoteReply>;

/** JSON Schema of the replies. */
export const replySchema = documentOf('Reply of a remote stage to gw2api', RemoteReply);

type Check = ReturnType<typeof compileCheck>;

const verdicts: Readonly<Record<RemotePhase, Readonly<Record<string, readonly TSchema[]>>>> = {
  request: { allow: [Allow], deny: [Deny], refuse: [Refuse], change: [ChangeBySet, ChangeByPatch] },
  answer: { allow: [Allow], refuse: [Refuse], change: [ChangeContent] },
  events: { allow: [Allow], refuse: [Refuse], change: [ChangeEvents], hold: [Hold] },
};

/** Compiled at the first reply of their kind. */
const checks = new Map<TSchema, Check>();

/** Fault of a parsed reply to a question of `phase`: a path and a reason, without contents. Undefined: none. */
export function replyFault(phase: RemotePhase, reply: unknown): string | undefined {
  if (!isRecord(reply)) return 'it is not a JSON object';
  if (reply['version'] !== 1) return 'version: must be 1';
  const known = verdicts[phase];
  const { verdict } = reply;
  if (typeof verdict !== 'string' || !Object.hasOwn(known, verdict))
    return `verdict: must be one of ${Object.keys(known).join(', ')}`;
  const [first, second] = known[verdict] ?? [];
  const schema = second && 'patch' in reply && !('set' in reply) ? second : first;
  return (schema && schemaFault(schema, reply)) ?? stateFault(reply['state']);
}

/** Fault of parts in place of those of a request: a path and a reason. Undefined: none. */
export function changedPartsFault(parts: object): string | undefined {
  return schemaFault(ChangedParts, parts);
}

/** Reply to a question of `phase`. Throws a TypeError whose message says what is wrong, without contents. */
export function checkedReply<Phase extends RemotePhase>(phase: Phase, reply: unknown): RemoteReplies[Phase] {
  const fault = replyFault(phase, reply);
  if (fault !== undefined) throw new TypeError(fault);
  return reply as RemoteReplies[Phase]; // it conforms
}

function schemaFault(schema: TSchema, reply: object): string | undefined {
  let check = checks.get(schema);
  if (!check) checks.set(schema, (check = compileCheck(schema)));
  const [error] = check(reply);
  return error && `${formatPath(error.path, 'reply')}: ${error.message}`;
}

function stateFault(state: unknown): string | undefined {
  if (state === undefined) return undefined;
  const bytes = Buffer.byteLength(JSON.stringify(state));
  return bytes > maxStateBytes ? `state: must have at most ${maxStateBytes} bytes` : undefined;
}
