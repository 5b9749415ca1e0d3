import type { Delta } from '../contract/messages.js';

/** Output of a delta: its text, thinking, arguments or signature; empty for any other. */
export function deltaText(delta: Delta): string {
  if (delta.type === 'text_delta') return delta.text;
  if (delta.type === 'thinking_delta') return delta.thinking;
  if (delta.type === 'input_json_delta') return delta.partial_json;
  return delta.type === 'signature_delta' ? delta.signature : '';
}
