import type { ContentBlock } from '@gw2api/gateway/plugin';
import type { LastResults } from '@gw2api/gateway/plugin/format';
import { dispatch, type DispatchTable } from '@gw2api/gateway/plugin/upstream';
import type { AddedTools } from '../../shared/losses/sent-choice.js';
import type { SchemaReceiver } from '../../shared/openai/openai-schemas.js';
import { plainBlocks } from '../../shared/losses/plain-blocks.js';
import type { ToolNames } from '../../shared/openai/tool-names.js';
import type { ResponsesSettings } from '../options.js';
import type { InputPart } from './input-items.js';

/** Conversion of the parts of one request. */
export interface Conversion extends AddedTools, SchemaReceiver {
  readonly settings: ResponsesSettings;
  readonly names: ToolNames;
  /** Results of calls that have several. */
  readonly results: LastResults | undefined;
}

/** Parts of one block; none, and a report, if there is no such part. */
export function partOf(block: ContentBlock, path: string, conversion: Conversion): readonly InputPart[] {
  return plainBlocks(block, path, conversion.dropped).flatMap((each) =>
    plainPart(each.block, path + each.path, conversion),
  );
}

function plainPart(block: ContentBlock, path: string, conversion: Conversion): readonly InputPart[] {
  const part = dispatch(writers, block, conversion.settings);
  if (!part) conversion.dropped.add(path, 'content');
  return part ? [part] : [];
}

const writers: Partial<DispatchTable<ContentBlock, ResponsesSettings, InputPart | undefined>> = {
  text: ({ text }) => ({ type: 'input_text', text }),
  image: ({ source, detail }) => {
    if (source.type === 'url') return image(source.url, detail);
    if (source.type !== 'base64') return undefined;
    return image(`data:${source.media_type};base64,${source.data}`, detail);
  },
  document: ({ source, title }, { files }) => {
    if (files && source.type === 'url') return { type: 'input_file', file_url: source.url };
    if (!files || source.type !== 'base64') return undefined;
    const file_data = `data:${source.media_type};base64,${source.data}`;
    return { type: 'input_file', filename: title ?? 'document.pdf', file_data };
  },
};

function image(image_url: string, detail: unknown): InputPart {
  return { type: 'input_image', image_url, detail: typeof detail === 'string' ? detail : 'auto' };
}
