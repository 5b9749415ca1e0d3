import type { Delta } from '../../contract/messages.js';

/** Output of a delta: its text, thinking, arguments or signature; empty for any other, and for anything but text. */
export function deltaText(delta: Delta): string {
  const output: unknown = outputOf(delta); // of a delta that was made of a whole answer nobody has checked
  return typeof output === 'string' ? output : '';
}

function outputOf(delta: Delta): string {
  if (delta.type === 'text_delta') return delta.text;
  if (delta.type === 'thinking_delta') return delta.thinking;
  if (delta.type === 'input_json_delta') return delta.partial_json;
  return delta.type === 'signature_delta' ? delta.signature : '';
}
