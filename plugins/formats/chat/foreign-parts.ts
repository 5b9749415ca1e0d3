import { Type, type ContentBlock } from 'gw2api/plugin';
import type { ChatPart } from './body.js';
import { part as responsesPart, readPart as readResponsesPart } from '../responses/content.js';
import { parseArguments } from '../shared/arguments.js';
import { bodyCheck, isRecord, nullable } from '../shared/body.js';
import { toolResult } from '../shared/call-ids.js';
import { upstreamToolName } from '../shared/toolbox.js';
import type { UnsupportedFields } from '../shared/unsupported-fields.js';

export interface ForeignPlace {
  readonly path: string;
  readonly dropped: UnsupportedFields;
  /** Reader of the content of a tool result at `path`. */
  readonly read: (content: readonly ChatPart[], path: string) => readonly ContentBlock[];
}

/**
 * Blocks of a part in the shape of another format, which some clients (Cursor) send in Chat messages;
 * undefined for an unknown type. Thinking without a signature cannot be replayed and is left out.
 */
export function readForeignPart(part: ChatPart, place: ForeignPlace): readonly ContentBlock[] | undefined {
  return Object.hasOwn(readers, part.type) ? readers[part.type]?.(part, place) : undefined;
}

interface Thoughts extends ChatPart {
  readonly thinking?: unknown;
  readonly signature?: unknown;
  readonly data?: unknown;
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

const check = {
  toolUse: bodyCheck(
    Type.Object({
      id: Type.String({ minLength: 1 }),
      name: Type.String({ minLength: 1 }),
      input: Type.Unknown(),
    }),
  ),
  toolResult: bodyCheck(
    Type.Object({
      tool_use_id: Type.String({ minLength: 1 }),
      content: nullable(Type.String(), Type.Array(Type.Object({ type: Type.String() }))),
      is_error: nullable(Type.Boolean()),
    }),
  ),
  image: bodyCheck(Type.Object({ source: Type.Union([dataSource, webSource]) })),
  document: bodyCheck(
    Type.Object({
      source: Type.Union([dataSource, webSource, textSource]),
      title: nullable(Type.String()),
      context: nullable(Type.String()),
    }),
  ),
  responses: bodyCheck(responsesPart),
};

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
    if (isUnsigned(part) || typeof signature !== 'string') return [];
    return [{ type: 'thinking', thinking: typeof thinking === 'string' ? thinking : '', signature }];
  },
  redacted_thinking: (part) => {
    const { data }: Thoughts = part;
    return isUnsigned(part) || typeof data !== 'string' ? [] : [{ type: 'redacted_thinking', data }];
  },
  image: (part, { path }) => [{ type: 'image', source: check.image(part, path).source }],
  document: (part, { path }) => {
    const { source, title, context } = check.document(part, path);
    return [{ type: 'document', source, ...(title && { title }), ...(context && { context }) }];
  },
  input_text: readResponses,
  output_text: readResponses,
  input_image: readResponses,
  input_file: readResponses,
};

/** True for thinking that cannot be replayed. */
export function isUnsigned(part: ChatPart): boolean {
  const { type, signature, data }: Thoughts = part;
  if (type !== 'thinking' && type !== 'redacted_thinking') return false;
  const proof = type === 'thinking' ? signature : data;
  return typeof proof !== 'string' || proof === '';
}

/** A part of the Responses format; some clients put its image in an object, as Chat does. */
function readResponses(part: ChatPart, { path, dropped }: ForeignPlace): readonly ContentBlock[] {
  const { image_url: image } = part;
  const flat = isRecord(image) ? { ...part, image_url: image['url'], detail: image['detail'] } : part;
  return [readResponsesPart(check.responses(flat, path), path, dropped)];
}
