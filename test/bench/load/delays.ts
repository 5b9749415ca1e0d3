import { stampedMicros } from '../upstream/scripts.js';
import type { Answer } from './exchange.js';

/** Milliseconds from the sending of each delta to its arrival; `texts` are the deltas', which are times. */
export function delaysOf({ chunks, atMicros }: Answer, texts: readonly string[]): readonly number[] {
  const ends = endOffsets(chunks);
  const body = Buffer.concat(chunks);
  let chunk = 0;
  let offset = 0;
  return texts.map((text) => {
    offset = body.indexOf(text.trimEnd(), offset);
    if (offset < 0) throw new Error(`the delta ${text} is out of order`);
    // It has come when its event has, which an empty line ends.
    const end = body.indexOf('\n\n', offset) + 2;
    while ((ends[chunk] ?? Infinity) < end) chunk += 1;
    return ((atMicros[chunk] ?? 0) - stampedMicros(text)) / 1000;
  });
}

function endOffsets(chunks: readonly Buffer[]): readonly number[] {
  let end = 0;
  return chunks.map((chunk) => (end += chunk.length));
}
