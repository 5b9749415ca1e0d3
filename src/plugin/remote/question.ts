import { Type, type Static } from 'typebox';
import { documentOf, Json, maxStateBytes } from './document.js';

const Text = Type.String();
const Fields = Type.Object({});

/** Parts of a request that a remote stage may be sent and may change. */
export const requestParts = ['messages', 'system', 'tools', 'model', 'extras'] as const;
export type RequestPart = (typeof requestParts)[number];

/** Parts of the request that `send` names; `prediction` goes with the messages. */
const RequestView = Type.Object({
  messages: Type.Optional(
    Type.Array(Fields, { description: 'Messages, in the format of the Messages API.' }),
  ),
  prediction: Type.Optional({ ...Json, description: 'Predicted output of a Chat Completions request.' }),
  system: Type.Optional(Type.Union([Text, Type.Array(Fields)])),
  tools: Type.Optional(Type.Array(Fields)),
  model: Type.Optional(Text),
  extras: Type.Optional(
    Type.Array(Type.Object({ place: Text, extras: Fields }), {
      description: 'Fields without a name in the Messages API, by their place; an empty one is the request.',
    }),
  ),
});
export type RequestView = Static<typeof RequestView>;

const Caller = Type.Object({
  id: Text,
  name: Text,
  team: Type.Union([Type.Object({ id: Text, name: Text }), Type.Null()]),
});

/** What `send` names, in the first question of a phase. */
const sent = {
  request: Type.Optional(RequestView),
  caller: Type.Optional(Caller),
  session: Type.Optional(Type.Union([Text, Type.Null()], { description: 'Name of the session as sent.' })),
  headers: Type.Optional(Type.Record(Text, Text, { description: 'Headers of the caller, lower case.' })),
};

const always = {
  version: Type.Literal(1),
  id: Type.String({ description: 'Id of the request.' }),
  stage: Type.String({ description: 'Name of the entry in the config.' }),
  pipeline: Text,
  format: Type.String({ description: "The caller's format: messages, chat, responses, completions." }),
  stream: Type.Boolean(),
  context: Type.Object({}, { description: 'The option `context` of the stage.' }),
  state: { ...Json, description: `State of the last reply, at most ${maxStateBytes} bytes; null: none.` },
};

const RequestQuestion = Type.Object({ ...always, phase: Type.Literal('request'), ...sent });

const AnswerQuestion = Type.Object({
  ...always,
  phase: Type.Literal('answer'),
  ...sent,
  answer: Type.Object({
    content: Type.Array(Fields, { description: 'Content blocks of the Messages API.' }),
    stop_reason: Type.Union([Text, Type.Null()]),
    usage: Fields,
  }),
});

const EventsQuestion = Type.Object({
  ...always,
  phase: Type.Literal('events'),
  ...sent,
  seq: Type.Integer({ minimum: 0 }),
  events: Type.Array(Fields, {
    description: 'Events of a Messages stream, held ones again before new ones.',
  }),
  last: Type.Boolean({ description: 'True for the last question of an answer.' }),
});

/** Question of a gateway to a remote stage; a later version may have further fields. */
export const RemoteQuestion = Type.Union([RequestQuestion, AnswerQuestion, EventsQuestion]);
export type RemoteQuestion = Static<typeof RemoteQuestion>;
export type RemotePhase = RemoteQuestion['phase'];

/** JSON Schema of the questions. */
export const questionSchema = documentOf('Question of gw2api to a remote stage', RemoteQuestion);
