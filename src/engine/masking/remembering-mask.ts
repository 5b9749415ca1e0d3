import type { TextMask } from './text-mask.js';

/** A mask that remembers the results of its last texts: where an upstream fails, it says the same to each request. */
export function rememberingMask(mask: TextMask): TextMask {
  const known = new Map<string, string>();
  return (text, maxLength) => {
    if (text.length > maxText) return mask(text, maxLength);
    const key = `${maxLength} ${text}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const masked = mask(text, maxLength);
    known.set(key, masked);
    const [oldest] = known.keys();
    if (known.size > maxTexts && oldest !== undefined) known.delete(oldest);
    return masked;
  };
}

const maxTexts = 4;

/** Longer texts are not remembered, for they would take memory in each slot. */
const maxText = 8192;
