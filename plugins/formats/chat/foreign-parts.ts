import type { TProperties } from 'typebox';
import { Type, type ContentBlock } from '@gw2api/gateway/plugin';
import { part, type ChatPart } from './body.js';
import { part as responsesPart, readPart as readResponsesPart } from '../responses/content.js';
import { parseArguments } from '../shared/tools/arguments.js';
import { bodyCheck, isRecord, nullable } from '../shared/body.js';
import { markerFields } from '../shared/cache-markers.js';
import { toolResult } from '../shared/tools/call-ids.js';
import { fileSource } from '../shared/media.js';
import { plainThinking } from '../shared/reasoning.js';
import { upstreamToolName } from '../shared/tools/toolbox.js';
import { unreadMembers, type MemberReport } from '../shared/unread/unread-members.js';
import type { UnsupportedFields } from '../shared/unread/unsupported-fields.js';

export interface ForeignPlace {
  readonly path: string;
  readonly dropped: UnsupportedFields;
  /** Reader of the content of a tool result at `path`. */
  readonly read: (content: readonly ChatPart[], path: string) => readonly ContentBlock[];
}

/**
 * Blocks of a part in the shape of another format, which some clients (Cursor) send in Chat messages;
 * undefined for an unknown type.
 */
export function readForeignPart(part: ChatPart, place: ForeignPlace): readonly ContentBlock[] | undefined {
  if (!Object.hasOwn(readers, part.type)) return undefined;
  members[part.type]?.(part, place.path, place.dropped);
  return readers[part.type]?.(part, place);
}

interface Thoughts extends ChatPart {
  readonly thinking?: unknown;
  readonly signature?: unknown;
  readonly data?: unknown;
  readonly closed?: unknown;
}

type ForeignReader = (part: ChatPart, place: ForeignPlace) => readonly ContentBlock[];

const webSource = Type.Object({ type: Type.Literal('url'), url: Type.String() });
const dataSource = Type.Object({
  type: Type.Literal('base64'),
  media_type: Type.String(),
  data: Type.String(),
});
const textSource = Type.Object({
  type: Type.Literal('text'),
  media_type: Type.String(),
  data: Type.String(),
});

const toolUse = Type.Object({
  id: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1 }),
  input: Type.Optional(Type.Unknown()),
});

const toolResultPart = Type.Object({
  tool_use_id: Type.String({ minLength: 1 }),
  content: nullable(Type.String(), Type.Array(part)),
  is_error: nullable(Type.Boolean()),
});

const image = Type.Object({ source: Type.Union([dataSource, webSource]) });

const document = Type.Object({
  source: Type.Union([dataSource, webSource, textSource]),
  title: nullable(Type.String()),
  context: nullable(Type.String()),
  citations: nullable(Type.Object({ enabled: nullable(Type.Boolean()) })),
});

const check = {
  toolUse: bodyCheck(toolUse),
  toolResult: bodyCheck(toolResultPart),
  image: bodyCheck(image),
  document: bodyCheck(document),
  responses: bodyCheck(responsesPart),
};

/** Parts of other formats whose members are not reported where they are read. */
const members: Readonly<Record<string, MemberReport>> = {
  tool_use: membersOf({ ...toolUse.properties, caller: Type.Unknown() }),
  tool_result: membersOf({ ...toolResultPart.properties, content: Type.Unknown() }),
  thinking: membersOf({ thinking: Type.Unknown(), signature: Type.Unknown(), closed: Type.Unknown() }),
  redacted_thinking: membersOf({ data: Type.Unknown() }),
  image: membersOf(image.properties),
  document: membersOf(document.properties),
};

function membersOf(properties: TProperties): MemberReport {
  return unreadMembers(Type.Object({ type: Type.String(), ...properties, ...markerFields }));
}

const readers: Readonly<Record<string, ForeignReader>> = {
  tool_use: (part, { path, dropped }) => {
    const { id, name, input } = check.toolUse(part, path);
    const use = { type: 'tool_use', id, name: upstreamToolName({ name }) } as const;
    return [{ ...use, input: parseArguments(input, `${path}.input`, dropped) }];
  },
  tool_result: (part, { path, read }) => {
    const { tool_use_id: id, content, is_error: isError } = check.toolResult(part, path);
    const result = typeof content === 'string' ? content : read(content ?? [], path);
    return [{ ...toolResult(id, result), ...(isError && { is_error: true }) }];
  },
  thinking: (part) => {
    const { thinking, signature }: Thoughts = part;
    const text = thoughtIn(part);
    if (Array.isArray(thinking)) return text === '' ? [] : [plainThinking(text, mistralForm(part))];
    if (isText(signature)) return [{ type: 'thinking', thinking: text, signature }];
    return text === '' ? [] : [plainThinking(text)];
  },
  redacted_thinking: (part) => {
    const { data }: Thoughts = part;
    return isText(data) ? [{ type: 'redacted_thinking', data }] : [];
  },
  image: (part, { path }) => [{ type: 'image', source: check.image(part, path).source }],
  document: (part, { path }) => {
    const { source: given, title, context, citations } = check.document(part, path);
    const source =
      given.type === 'base64' ? fileSource(given.media_type, given.data, title ?? undefined) : given;
    return [
      {
        type: 'document',
        source,
        ...(title && { title }),
        ...(context && { context }),
        ...(citations?.enabled && { citations: { enabled: true } }),
      },
    ];
  },
  input_text: readResponses,
  output_text: readResponses,
  input_image: readResponses,
  input_file: readResponses,
};

/** True for an empty thinking part. */
export function isEmptyThought(part: ChatPart): boolean {
  const { type, thinking, signature, data }: Thoughts = part;
  if (type === 'thinking') return thoughtIn(part) === '' && (Array.isArray(thinking) || !isText(signature));
  return type === 'redacted_thinking' && !isText(data);
}

/** Text of a thinking part: that of Messages, or the texts that Mistral has in a list. */
function thoughtIn({ thinking }: Thoughts): string {
  if (typeof thinking === 'string') return thinking;
  const texts = Array.isArray(thinking) ? (thinking as readonly unknown[]) : [];
  return texts.map((each) => (isRecord(each) && isText(each['text']) ? each['text'] : '')).join('');
}

/** Mistral's form of thinking without its text, for sending it back to the same place. */
function mistralForm({ signature, closed }: Thoughts): object {
  return {
    type: 'thinking',
    ...(isText(signature) && { signature }),
    ...(typeof closed === 'boolean' && { closed }),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** A part of the Responses format; some clients put its image in an object, as Chat does. */
function readResponses(part: ChatPart, { path, dropped }: ForeignPlace): readonly ContentBlock[] {
  const { image_url: image } = part;
  const flat = isRecord(image) ? { ...part, image_url: image['url'], detail: image['detail'] } : part;
  return [readResponsesPart(check.responses(flat, path), path, dropped)];
}
