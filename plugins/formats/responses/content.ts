import type { Static } from 'typebox';
import { Type, type ContentBlock, type TextBlock } from '@gw2api/gateway/plugin';
import { invalidField, nullable, required } from '../shared/body.js';
import { markerFields, markerOf } from '../shared/cache-markers.js';
import { fileBlock, imageBlock } from '../shared/media.js';
import { unreadInParts, type MemberReport } from '../shared/unread/unread-members.js';
import type { UnsupportedFields } from '../shared/unread/unsupported-fields.js';

export const part = Type.Object({
  type: Type.String(),
  text: nullable(Type.String()),
  refusal: nullable(Type.String()),
  image_url: nullable(Type.String()),
  detail: nullable(Type.String()),
  file_data: nullable(Type.String()),
  file_url: nullable(Type.String()),
  file_id: nullable(Type.String()),
  filename: nullable(Type.String()),
  ...markerFields,
});

type Part = Static<typeof part>;
type Content = string | readonly Part[] | null | undefined;

/**
 * Blocks of a message's or tool result's content at `path`; throws `invalid_request` for an unsupported part.
 */
export function readParts(
  content: Content,
  path: string,
  dropped: UnsupportedFields,
): readonly ContentBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return (content ?? []).map((part, at) => readPart(part, `${path}[${at}]`, dropped));
}

/** The same for system messages, which allow only text. */
export function readTexts(content: Content, path: string, dropped: UnsupportedFields): readonly TextBlock[] {
  return readParts(content, path, dropped).map((block, at) => {
    if (block.type !== 'text') throw invalidField(`${path}[${at}]`, 'must be text in a system message');
    return block;
  });
}

/** Block of one part at `path`. */
export function readPart(part: Part, path: string, dropped: UnsupportedFields): ContentBlock {
  const read = Object.hasOwn(readers, part.type) ? readers[part.type] : undefined;
  if (!read) throw invalidField(path, `has the type "${part.type}", which the gateway does not support`);
  members[part.type]?.(part, path, dropped);
  return { ...read(part, path, dropped), ...markerOf(part) };
}

const markers = Object.keys(markerFields);
const textMembers = unreadInParts(part, ['text', ...markers]);

const members: Readonly<Record<string, MemberReport>> = {
  text: textMembers,
  input_text: textMembers,
  output_text: textMembers,
  refusal: unreadInParts(part, ['refusal', ...markers]),
  input_image: unreadInParts(part, ['image_url', 'file_id', 'detail', ...markers]),
  input_file: unreadInParts(part, ['file_data', 'file_url', 'file_id', 'filename', ...markers]),
};

type PartReader = (part: Part, path: string, dropped: UnsupportedFields) => ContentBlock;

const readers: Readonly<Record<string, PartReader>> = {
  text: readText,
  input_text: readText,
  output_text: readText,
  refusal: ({ refusal }, path) => ({ type: 'text', text: required(refusal, `${path}.refusal`) }),
  input_image: ({ image_url, file_id, detail }, path) => {
    refuseFileId(file_id, path, 'image_url');
    const image = imageBlock(required(image_url, `${path}.image_url`), `${path}.image_url`);
    return { ...image, ...(detail && { detail }) };
  },
  input_file: ({ file_data, file_url, file_id, filename }, path) => {
    refuseFileId(file_id, path, 'file_data or file_url');
    const field = file_url ? 'file_url' : 'file_data';
    return fileBlock(
      required(file_url || file_data, `${path}.file_data`),
      filename ?? undefined,
      `${path}.${field}`,
    );
  },
};

function readText({ text }: Part, path: string): TextBlock {
  return { type: 'text', text: required(text, `${path}.text`) };
}

function refuseFileId(fileId: string | null | undefined, path: string, instead: string): void {
  if (fileId) throw invalidField(`${path}.file_id`, `cannot be read by the gateway; send ${instead}`);
}
