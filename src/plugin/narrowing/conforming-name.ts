import { createHash } from 'node:crypto';

/** `text` if it conforms to `^[a-zA-Z0-9_-]{1,maxLength}$`, else a unique name derived from it, always the same. */
export function conformingName(text: string, maxLength: number): string {
  if (text.length <= maxLength && /^[a-zA-Z0-9_-]+$/.test(text)) return text;
  const mark = `_${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;
  return text.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, maxLength - mark.length) + mark;
}
