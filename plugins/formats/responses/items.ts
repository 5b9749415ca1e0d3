import type { Static, TProperties } from 'typebox';
import { Type, type BlockOf } from '@gw2api/gateway/plugin';
import type { InputItem } from './body.js';
import { openCompaction } from './compaction/compaction.js';
import { part, readParts, readTexts } from './content.js';
import { parseArguments } from '../shared/tools/arguments.js';
import { bodyCheck, nullable } from '../shared/body.js';
import { toolResult } from '../shared/tools/call-ids.js';
import { openReasoning, plainThinking } from '../shared/reasoning.js';
import { orphanResult } from '../shared/tools/orphan-results.js';
import type { Toolbox } from '../shared/tools/toolbox.js';
import type { Transcript } from '../shared/transcript.js';
import { ofAnswers, unreadMembers, type MemberReport } from '../shared/unread/unread-members.js';
import type { UnsupportedFields } from '../shared/unread/unsupported-fields.js';

/** Context for reading an item. */
export interface Reading {
  readonly transcript: Transcript;
  readonly toolbox: Toolbox;
  readonly dropped: UnsupportedFields;
  /** Ids of the calls that have an output in the input. */
  readonly answered: ReadonlySet<unknown>;
  /** Ids of the calls that have been read. */
  readonly called: Set<string>;
}

/** `path` is the place of the item in the body: `input[2]`. */
export type ItemReader = (item: InputItem, path: string, reading: Reading) => void;

/** Adds one item to the conversation; a type without a counterpart is reported. */
export function readItem(item: InputItem, path: string, reading: Reading): void {
  const type = item['type'] ?? 'message';
  const read = typeof type === 'string' && Object.hasOwn(readers, type) ? readers[type] : undefined;
  if (read) read(item, path, reading);
  else reading.dropped.add(path);
}

const content = nullable(Type.String(), Type.Array(part));

const message = Type.Object({
  role: Type.Enum(['user', 'assistant', 'system', 'developer']),
  content,
  /** Of an answer: a comment on the way, or the answer itself. */
  phase: nullable(Type.String()),
});

const functionCall = Type.Object({
  call_id: Type.String(),
  name: Type.String({ minLength: 1 }),
  namespace: nullable(Type.String()),
  arguments: Type.Unknown(),
});

const customCall = Type.Object({
  call_id: Type.String(),
  name: Type.String({ minLength: 1 }),
  namespace: nullable(Type.String()),
  input: Type.String(),
});

const callOutput = Type.Object({
  call_id: Type.String(),
  name: nullable(Type.String()),
  output: content,
  /** Of a result in the shape of Messages. */
  is_error: nullable(Type.Boolean()),
});

const reasoning = Type.Object({
  encrypted_content: nullable(Type.String()),
  content: nullable(Type.Array(Type.Object({ text: nullable(Type.String()) }))),
  summary: nullable(Type.Array(Type.Unknown())),
});

const compaction = Type.Object({ encrypted_content: Type.String() });

const check = {
  message: bodyCheck(message),
  functionCall: bodyCheck(functionCall),
  customCall: bodyCheck(customCall),
  callOutput: bodyCheck(callOutput),
  reasoning: bodyCheck(reasoning),
  compaction: bodyCheck(compaction),
};

/** Reports of the members of items; parts of content report their own. */
const reportMembers = {
  message: membersOf({ ...message.properties, content: Type.Unknown() }),
  functionCall: membersOf(functionCall.properties),
  customCall: membersOf(customCall.properties),
  callOutput: membersOf({ ...callOutput.properties, output: Type.Unknown() }),
};

function membersOf(properties: TProperties): MemberReport {
  return unreadMembers(Type.Object({ type: Type.String(), ...properties }), `${ofAnswers} created_by`);
}

const readers: Readonly<Record<string, ItemReader>> = {
  message: (item, path, { transcript, dropped }) => {
    const { role, content, phase } = check.message(item, path);
    reportMembers.message(item, path, dropped);
    if (role === 'user') transcript.add(role, readParts(content, `${path}.content`, dropped));
    else if (role === 'assistant') {
      const blocks = readParts(content, `${path}.content`, dropped);
      transcript.add(role, phase ? blocks.map((block) => ({ ...block, phase })) : blocks);
    } else transcript.addSystem(readTexts(content, `${path}.content`, dropped));
  },
  function_call: (item, path, reading) => {
    if (isUnanswered(item, reading)) return reading.dropped.add(path);
    const call = check.functionCall(item, path);
    reportMembers.functionCall(item, path, reading.dropped);
    addCall(call, parseArguments(call.arguments, `${path}.arguments`, reading.dropped), reading);
  },
  custom_tool_call: (item, path, reading) => {
    if (isUnanswered(item, reading)) return reading.dropped.add(path);
    const call = check.customCall(item, path);
    reportMembers.customCall(item, path, reading.dropped);
    addCall(call, { input: call.input }, reading);
  },
  function_call_output: addResult,
  custom_tool_call_output: addResult,
  reasoning: (item, path, { transcript, dropped }) => {
    const { encrypted_content: sealed, content, summary } = check.reasoning(item, path);
    const block = sealed ? openReasoning(sealed) : plainReasoning(item, content ?? []);
    if (block) transcript.add('assistant', [block]);
    else if (sealed || summary?.length) dropped.add(path, 'mend'); // only its vendor can read it
  },
  compaction: addSummary,
  /** Former name of the same item. */
  compaction_summary: addSummary,
  /** Searches are repeated by the upstream, not replayed. */
  web_search_call: (_, path, { dropped }) => dropped.add(path, 'mend'),
  /** Empty reader, as `readTools` reads their tools. */
  additional_tools: () => undefined,
  tool_search_output: () => undefined,
};

/** Unsealed reasoning text, which is sent back unchanged if possible. */
function plainReasoning(
  item: InputItem,
  content: readonly { readonly text?: string | null }[],
): BlockOf<'thinking'> | undefined {
  const thinking = content.map(({ text }) => text ?? '').join('');
  return thinking === '' ? undefined : plainThinking(thinking, item);
}

/** True for a call that was cut and never made; one that has an output keeps its place beside it. */
function isUnanswered({ status, call_id }: InputItem, { answered }: Reading): boolean {
  return status === 'incomplete' && !answered.has(call_id);
}

/** Ids of the calls whose outputs are among the items. */
export function answeredCalls(items: readonly InputItem[]): ReadonlySet<unknown> {
  const outputs = items.filter(
    ({ type }) => type === 'function_call_output' || type === 'custom_tool_call_output',
  );
  return new Set(outputs.map(({ call_id }) => call_id));
}

type Call = Pick<Static<typeof functionCall>, 'call_id' | 'name' | 'namespace'>;

function addCall(
  { call_id, name, namespace }: Call,
  input: object,
  { transcript, toolbox, called }: Reading,
): void {
  called.add(call_id);
  const upstreamName = toolbox.upstreamName({ name, ...(namespace && { namespace }) });
  transcript.add('assistant', [{ type: 'tool_use', id: call_id, name: upstreamName, input }]);
}

function addResult(item: InputItem, path: string, { transcript, dropped, called }: Reading): void {
  const { call_id, name, output, is_error: isError } = check.callOutput(item, path);
  reportMembers.callOutput(item, path, dropped);
  const result = typeof output === 'string' ? output : readParts(output, `${path}.output`, dropped);
  const failure = isError ? { is_error: true } : {};
  if (called.has(call_id)) return transcript.add('user', [{ ...toolResult(call_id, result), ...failure }]);
  dropped.add(path);
  transcript.add('user', orphanResult(name || call_id, result));
}

function addSummary(item: InputItem, path: string, { transcript, dropped }: Reading): void {
  const text = openCompaction(check.compaction(item, path).encrypted_content);
  if (text === undefined) dropped.add(path);
  else transcript.add('user', [{ type: 'text', text }]);
}
