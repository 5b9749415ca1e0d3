import { createHash } from 'node:crypto';

/**
 * The upstream's form of a tool call's id: itself where it is made of letters, digits, `_` and `-`, else made from it,
 * always the same and different for different ids.
 */
export function toolUseId(id: string): string {
  return conformingName(id, Infinity);
}

/** `text` where it conforms to `^[a-zA-Z0-9_-]{1,maxLength}$`, else a name that does and that only this text has. */
export function conformingName(text: string, maxLength: number): string {
  if (text.length <= maxLength && /^[a-zA-Z0-9_-]+$/.test(text)) return text;
  const mark = `_${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;
  return text.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, maxLength - mark.length) + mark;
}
