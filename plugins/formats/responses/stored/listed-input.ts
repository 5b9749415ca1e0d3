import type { StoredResponse } from '@gw2api/gateway/plugin/format';
import type { InputItem } from '../body.js';
import { inputItemId } from '../item.js';
import { isRecord } from '../../shared/body.js';

/**
 * Input items of a stored response for listing: each with its type, a status, its content in parts, and a
 * unique id.
 */
export function listedInput({ id, input }: Pick<StoredResponse, 'id' | 'input'>): readonly InputItem[] {
  const seen = new Set<unknown>();
  return input.filter(isRecord).map((item, at) => {
    const type = typeof item['type'] === 'string' ? item['type'] : 'message';
    const hasOwnId = typeof item['id'] === 'string' && item['id'] !== '' && !seen.has(item['id']);
    const itemId = hasOwnId ? item['id'] : inputItemId(type, id, at);
    seen.add(itemId);
    const listed = { ...item, id: itemId, type };
    if (type === 'reasoning') return listed;
    return { status: 'completed', ...listed, ...(type === 'message' && { content: partsOf(item) }) };
  });
}

function partsOf({ role, content }: InputItem): unknown {
  if (typeof content !== 'string') return content ?? [];
  if (role !== 'assistant') return [{ type: 'input_text', text: content }];
  return [{ type: 'output_text', text: content, annotations: [], logprobs: [] }];
}
