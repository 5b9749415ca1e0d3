import { formsOf } from './secret-forms.js';

/** Replaces secrets in a text by `***`, in all their forms; leaves all other words as they are. */
export type ExactMask = (text: string) => string;

/** Mask of these secrets alone; shorter ones than 6 characters would be found in other words. */
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
