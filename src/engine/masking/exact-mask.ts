import { formsOf } from './secret-forms.js';
import type { TextMask } from './text-mask.js';

/** Replaces secrets in a text by `***`, in all their forms, and nothing else. */
export type ExactMask = (text: string) => string;

/** Mask of these secrets alone; those shorter than 6 characters would match other words. */
export function exactMask(secrets: readonly string[]): ExactMask {
  const forms = [...new Set(secrets.filter(isLongEnough).flatMap(formsOf))].filter(isLongEnough);
  const longestFirst = forms.toSorted((a, b) => b.length - a.length); // one may contain another
  return (text) => longestFirst.reduce((masked, form) => masked.replaceAll(form, blank), text);
}

function isLongEnough({ length }: string): boolean {
  return length >= minLength;
}

const minLength = 6;
const blank = '***';

/** A mask with a cache of its last texts, since a failing upstream repeats itself for each request. */
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

/** Max length of a cached text, to limit the memory of each slot. */
const maxText = 8192;
