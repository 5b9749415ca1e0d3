import { extrasOf, withExtras, type ContentBlock } from '@gw2api/gateway/plugin';
import type { LastResults } from '@gw2api/gateway/plugin/format';
import { dispatch, extraPath, type DispatchTable } from '@gw2api/gateway/plugin/upstream';
import type { Capabilities } from '../capabilities.js';
import type { ChatContent, ChatPart, TextPart } from './chat-body.js';
import { withMarker, type Marking } from './markers.js';
import type { AddedTools } from '../../shared/losses/sent-choice.js';
import type { SchemaReceiver } from '../../shared/openai/openai-schemas.js';
import { plainBlocks } from '../../shared/losses/plain-blocks.js';
import type { ToolNames } from '../../shared/openai/tool-names.js';

/** Conversion of the parts of one request. */
export interface Conversion extends AddedTools, SchemaReceiver, Marking {
  readonly names: ToolNames;
  /** Results of calls that have several. */
  readonly results: LastResults | undefined;
}

/** Parts of blocks, each at `path[index]`; blocks that cannot be expressed are left out and reported. */
export function partsOf(
  content: string | readonly ContentBlock[],
  path: string,
  conversion: Conversion,
): readonly ChatPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return content.flatMap((block, at) => partOf(block, `${path}[${at}]`, conversion));
}

/** Parts of one block; none, and a report, if the server has no such part. */
export function partOf(block: ContentBlock, path: string, conversion: Conversion): readonly ChatPart[] {
  const parts = plainBlocks(block, path, conversion.dropped).flatMap((each) =>
    plainPart(each.block, path + each.path, conversion),
  );
  return withSpeaker(parts, block, path, conversion);
}

function plainPart(block: ContentBlock, path: string, conversion: Conversion): readonly ChatPart[] {
  const part = dispatch(writers, block, conversion.capabilities);
  if (!part) conversion.dropped.add(path, 'content');
  if (part?.type === 'text') return [withMarker(part, block.cache_control, conversion)];
  return part ? [part] : [];
}

/** Parts with the speaker's name, if the server takes it. */
function withSpeaker(
  parts: readonly ChatPart[],
  block: object,
  path: string,
  { capabilities, dropped }: Conversion,
): readonly ChatPart[] {
  const { name } = extrasOf(block);
  if (name === undefined || parts.length === 0) return parts;
  if (capabilities.names) return parts.map((part) => withExtras(part, { name }));
  dropped.add(extraPath('name', path));
  return parts;
}

type PartWriter = Partial<DispatchTable<ContentBlock, Capabilities, ChatPart | undefined>>;

const writers: PartWriter = {
  text: ({ text }) => ({ type: 'text', text }),
  image: ({ source, detail }, { images }) => {
    if (source.type === 'url' && images === 'url') return image(source.url, detail);
    if (source.type !== 'base64' || images === 'none') return undefined;
    return image(`data:${source.media_type};base64,${source.data}`, detail);
  },
  document: ({ source, title }, { files }) => {
    if (source.type !== 'base64' || !files || source.media_type !== 'application/pdf') return undefined;
    const file_data = `data:${source.media_type};base64,${source.data}`;
    return { type: 'file', file: { filename: title ?? 'document.pdf', file_data } };
  },
};

function image(url: string, detail: unknown): ChatPart {
  return { type: 'image_url', image_url: { url, ...(typeof detail === 'string' && { detail }) } };
}

/**
 * Parts as one string if they are texts, unless the server needs the list: to tell texts apart, or for its markers.
 * Since markers move from turn to turn, a server that takes them always gets several texts as a list.
 */
export function contentOf(parts: readonly ChatPart[], separator: string, asParts: boolean): ChatContent {
  if (!parts.every(isPlainText) || (asParts && parts.length > 1)) return parts;
  return parts.map(({ text }) => text).join(separator);
}

/** True for a text without a marker. */
export function isPlainText(part: ChatPart): part is TextPart {
  return part.type === 'text' && part.cache_control === undefined;
}

/** Content as parts. */
export function partsIn(content: ChatContent): readonly ChatPart[] {
  if (typeof content !== 'string') return content;
  return content === '' ? [] : [{ type: 'text', text: content }];
}
