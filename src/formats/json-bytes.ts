import { toByteText, type ByteText } from '../plugin/index.js';

/** A text as it stands in JSON, without the quotes. */
export function jsonBytes(text: string): ByteText {
  return toByteText(JSON.stringify(text).slice(1, -1));
}
