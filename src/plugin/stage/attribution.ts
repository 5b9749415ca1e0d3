import type { MessagesRequest, TextBlock } from '../contract/messages.js';
import { withFields } from '../raw/with-fields.js';

/**
 * Puts a block before the caller's system blocks, which stay unchanged; after Claude Code's attribution block, which
 * Anthropic's API removes from the prompt only at the start.
 */
export function withSystemBlock(request: MessagesRequest, block: TextBlock): MessagesRequest {
  const [first, ...rest] = systemBlocks(request.system);
  if (first === undefined) return withFields(request, { system: [block] });
  const system = isAttribution(first) ? [first, block, ...rest] : [block, first, ...rest];
  return withFields(request, { system });
}

/** True for the block in which Claude Code names its version and the conversation; `block` is not validated. */
export function isAttribution(block: unknown): block is TextBlock {
  if (typeof block !== 'object' || block === null || !('text' in block)) return false;
  return typeof block.text === 'string' && block.text.startsWith('x-anthropic-billing-header:');
}

/** System blocks of the caller as a list; the field is not validated, and may hold anything. */
function systemBlocks(system: MessagesRequest['system']): readonly TextBlock[] {
  if (typeof system !== 'string') return Array.isArray(system) ? system : [system ?? []].flat();
  return system === '' ? [] : [{ type: 'text', text: system }]; // upstreams refuse an empty text
}
