import type { ContentBlock, TextBlock } from '@gw2api/gateway/plugin';
import { part, type ChatMessage, type ChatPart } from './body.js';
import { readForeignPart } from './foreign-parts.js';
import { invalidField, required } from '../shared/body.js';
import { markerFields, markerOf } from '../shared/cache-markers.js';
import { fileBlock, imageBlock } from '../shared/media.js';
import { unreadInParts, type MemberReport } from '../shared/unread/unread-members.js';
import type { UnsupportedFields } from '../shared/unread/unsupported-fields.js';

/** Blocks of a message's content; throws `invalid_request` naming a part that Messages cannot carry. */
export function readContent(
  { content }: ChatMessage,
  path: string,
  dropped: UnsupportedFields,
): readonly ContentBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return readList(content ?? [], path, dropped);
}

function readList(
  parts: readonly ChatPart[],
  path: string,
  dropped: UnsupportedFields,
): readonly ContentBlock[] {
  return parts.flatMap((given, at) => readPart(given, `${path}.content[${at}]`, dropped));
}

/** The same for system messages, which allow only text. */
export function readText(
  message: ChatMessage,
  path: string,
  dropped: UnsupportedFields,
): readonly TextBlock[] {
  return readContent(message, path, dropped).map((block, at) => {
    if (block.type !== 'text')
      throw invalidField(`${path}.content[${at}]`, `must be text in a ${message.role} message`);
    return block;
  });
}

function readPart(given: ChatPart, path: string, dropped: UnsupportedFields): readonly ContentBlock[] {
  const { type } = given;
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined;
  if (read) {
    members[type]?.(given, path, dropped);
    return [{ ...read(given, path, dropped), ...markerOf(given) }];
  }
  const place = {
    path,
    dropped,
    read: (parts: readonly ChatPart[], at: string) => readList(parts, at, dropped),
  };
  const blocks = readForeignPart(given, place);
  if (!blocks) throw invalidField(path, `has the type "${type}", which the gateway does not support`);
  const isThinking = type === 'thinking' || type === 'redacted_thinking';
  return isThinking ? blocks : blocks.map((block) => ({ ...block, ...markerOf(given) }));
}

const markers = Object.keys(markerFields);

const members: Readonly<Record<string, MemberReport>> = Object.fromEntries(
  ['text', 'refusal', 'image_url', 'file'].map((field) => [field, unreadInParts(part, [field, ...markers])]),
);

type PartReader = (part: ChatPart, path: string, dropped: UnsupportedFields) => ContentBlock;

const readers: Readonly<Record<string, PartReader>> = {
  text: ({ text }, path) => ({ type: 'text', text: required(text, `${path}.text`) }),
  refusal: ({ refusal }, path) => ({ type: 'text', text: required(refusal, `${path}.refusal`) }),
  image_url: ({ image_url }, path) => {
    const given = required(image_url, `${path}.image_url`);
    const { url, detail } = typeof given === 'string' ? { url: given, detail: undefined } : given;
    return { ...imageBlock(url, `${path}.image_url`), ...(detail && { detail }) };
  },
  file: ({ file }, path) => {
    const { file_data, file_id, filename } = required(file, `${path}.file`);
    if (file_id) throw invalidField(`${path}.file.file_id`, 'cannot be read by the gateway; send file_data');
    return fileBlock(
      required(file_data, `${path}.file.file_data`),
      filename ?? undefined,
      `${path}.file.file_data`,
    );
  },
};
