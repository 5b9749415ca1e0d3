import { dispatch, type DispatchTable } from '../../kit/dispatch.js';
import type { ContentBlock, Delta } from '../contract/messages.js';
import { inputJson } from '../inputs/kept-inputs.js';
import { ModelEvent } from './events.js';

/** A whole block as the events that a stream would have had for it. */
export function blockEvents(block: ContentBlock, index: number): readonly ModelEvent[] {
  const { begin, deltas } = dispatch(splitters, block, undefined) ?? { begin: block, deltas: [] };
  return [
    ModelEvent.of({ type: 'content_block_start', index, content_block: begin }),
    ...deltas.map((delta) => ModelEvent.of({ type: 'content_block_delta', index, delta })),
    ModelEvent.of({ type: 'content_block_stop', index }),
  ];
}

interface Split {
  readonly begin: ContentBlock;
  readonly deltas: readonly Delta[];
}

/** Splitters of the blocks that clients expect in deltas; any other block is complete at its start. */
const splitters: Partial<DispatchTable<ContentBlock, undefined, Split>> = {
  text: (block) => ({
    begin: { ...block, text: '', ...(block.citations ? { citations: [] } : {}) },
    deltas: [
      ...(block.citations ?? []).map((citation) => ({ type: 'citations_delta', citation }) as const),
      { type: 'text_delta', text: block.text },
    ],
  }),
  thinking: (block) => ({
    begin: { ...block, thinking: '', signature: '' },
    deltas: [
      { type: 'thinking_delta', thinking: block.thinking },
      { type: 'signature_delta', signature: block.signature },
    ],
  }),
  tool_use: (block) => ({
    begin: { ...block, input: {} },
    deltas: [{ type: 'input_json_delta', partial_json: inputJson(block.input) }],
  }),
};
