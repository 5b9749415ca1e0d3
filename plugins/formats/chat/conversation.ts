import { Type, withExtras, type BlockOf, type ContentBlock } from '@gw2api/gateway/plugin';
import { message, type ChatMessage, type ChatToolCall } from './body.js';
import { readContent, readText } from './content.js';
import { thoughtOfCall, thoughtsOf } from './thoughts.js';
import { parseArguments } from '../shared/tools/arguments.js';
import { required } from '../shared/body.js';
import { markerOf } from '../shared/cache-markers.js';
import { toolResult } from '../shared/tools/call-ids.js';
import { upstreamToolName } from '../shared/tools/toolbox.js';
import { Transcript } from '../shared/transcript.js';
import { ofAnswers, unreadMembers } from '../shared/unread/unread-members.js';
import type { UnsupportedFields } from '../shared/unread/unsupported-fields.js';

/** The conversation of a Chat body; throws `invalid_request` naming the unreadable part. */
export function readConversation(messages: readonly ChatMessage[], dropped: UnsupportedFields): Transcript {
  const conversation: Conversation = { transcript: new Transcript(), dropped, legacyCalls: new Map() };
  messages.forEach((message, at) => {
    const path = `messages[${at}]`;
    reportMembers(message, path, dropped);
    conversation.transcript.from(path);
    readers[message.role](message, at, conversation);
  });
  return conversation.transcript;
}

/** Content reports its own members; a last answer is continued without a `prefix`, too. */
const reportMembers = unreadMembers(
  Type.Object({ ...message.properties, content: Type.Unknown(), reasoning_details: Type.Unknown() }),
  `${ofAnswers} prefix`,
);

interface Conversation {
  readonly transcript: Transcript;
  readonly dropped: UnsupportedFields;
  /** Ids made for `function_call`s that wait for their `function` message, by function name. */
  readonly legacyCalls: Map<string, string>;
}

type MessageReader = (message: ChatMessage, at: number, conversation: Conversation) => void;

const readers: Readonly<Record<ChatMessage['role'], MessageReader>> = {
  system: readSystem,
  developer: readSystem,
  user: readUser,
  assistant: readAssistant,
  tool: (message, at, conversation) => {
    const id = required(message.tool_call_id, `messages[${at}].tool_call_id`);
    addResult(message, at, id, conversation);
  },
  function: (message, at, conversation) => {
    const name = required(message.name, `messages[${at}].name`);
    addResult(message, at, conversation.legacyCalls.get(name) ?? name, conversation);
    conversation.legacyCalls.delete(name);
  },
};

function readSystem(message: ChatMessage, at: number, { transcript, dropped }: Conversation): void {
  transcript.addSystem(withSpeaker(mark(readText(message, `messages[${at}]`, dropped), message), message));
}

function readUser(message: ChatMessage, at: number, { transcript, dropped }: Conversation): void {
  transcript.add(
    'user',
    withSpeaker(mark(readContent(message, `messages[${at}]`, dropped), message), message),
  );
}

function readAssistant(
  message: ChatMessage,
  at: number,
  { transcript, dropped, legacyCalls }: Conversation,
): void {
  const path = `messages[${at}]`;
  const { refusal, tool_calls, function_call: legacy, audio } = message;
  if (audio) dropped.add(`${path}.audio`);
  if (legacy) legacyCalls.set(legacy.name, legacyId(at));
  const blocks: readonly ContentBlock[] = [
    ...thoughtsOf(message).map(({ block }) => block),
    ...readContent(message, path, dropped),
    ...(refusal ? [{ type: 'text', text: refusal } as const] : []),
    ...(tool_calls ?? []).flatMap((call, nth) => [
      ...thoughtBefore(call, `${path}.tool_calls[${nth}]`, dropped),
      readCall(call, { path: `${path}.tool_calls[${nth}]`, ownId: `call_${at}_${nth}`, dropped }),
    ]),
    ...(legacy
      ? [readCall({ function: legacy }, { path, ownId: legacyId(at), field: 'function_call', dropped })]
      : []),
  ];
  transcript.add('assistant', withSpeaker(mark(blocks, message), message));
}

/** Thinking that led to a call; other data of its vendor is reported. */
function thoughtBefore(
  call: ChatToolCall,
  path: string,
  dropped: UnsupportedFields,
): readonly BlockOf<'thinking'>[] {
  const thought = thoughtOfCall(call);
  if (call.extra_content && thought.length === 0) dropped.add(`${path}.extra_content`);
  return thought;
}

interface CallPlace {
  readonly path: string;
  /** Id of a call that came without one. */
  readonly ownId: string;
  readonly field?: 'function' | 'function_call';
  readonly dropped: UnsupportedFields;
}

function readCall(
  { id, function: called, custom }: ChatToolCall,
  { path, ownId, field = 'function', dropped }: CallPlace,
): BlockOf<'tool_use'> {
  const use = { type: 'tool_use', id: id || ownId } as const;
  if (custom) return { ...use, name: upstreamToolName(custom), input: { input: custom.input ?? '' } };
  const { name, arguments: text } = required(called, `${path}.${field}`);
  return {
    ...use,
    name: upstreamToolName({ name }),
    input: parseArguments(text, `${path}.${field}.arguments`, dropped),
  };
}

function addResult(
  message: ChatMessage,
  at: number,
  callId: string,
  { transcript, dropped }: Conversation,
): void {
  const { content } = message;
  const result = typeof content === 'string' ? content : readContent(message, `messages[${at}]`, dropped);
  transcript.add('user', mark([toolResult(callId, result)], message));
}

/** Id for a legacy call, derived from its message's position. */
function legacyId(at: number): string {
  return `call_${at}`;
}

/** Some clients put the cache marker on the message: it means the message's end. */
function mark<Block extends ContentBlock>(blocks: readonly Block[], message: ChatMessage): readonly Block[] {
  const marker = markerOf({ cache_control: message.cache_control ?? null });
  return blocks.map((block, at) => (at === blocks.length - 1 ? { ...block, ...marker } : block));
}

/** Blocks with the speaker's name: Messages cannot distinguish several speakers. */
function withSpeaker<Block extends ContentBlock>(
  blocks: readonly Block[],
  { name }: ChatMessage,
): readonly Block[] {
  return name ? blocks.map((block) => withExtras(block, { name })) : blocks;
}
