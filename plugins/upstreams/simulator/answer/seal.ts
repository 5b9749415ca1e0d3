import { createHmac } from 'node:crypto';

/**
 * Mark at both ends of a seal, so that one changed byte cannot hide its origin. Nine bytes keep their base64
 * form.
 */
const mark = Buffer.from('simulator');
const markText = mark.toString('base64');
const key = 'the gw2api simulator';

/** First words of the simulator's own thinking. */
export const thinkingMark = '[simulated thinking]';

type SealKind = 'thinking' | 'redacted' | 'search';

/** The signature of a text: base64, 88 characters, the same for the same text. */
export function seal(kind: SealKind, text: string): string {
  const digest = createHmac('sha384', key).update(kind).update('\0').update(text).digest();
  return Buffer.concat([mark, digest, mark]).toString('base64');
}

/** True if `signature` was made by a simulator, changed or not. */
function isOurs(signature: string): boolean {
  return signature.startsWith(markText) || signature.endsWith(markText);
}

/**
 * True if a thinking block was returned byte-exact. A block of another service cannot be verified here and passes if
 * its signature is long base64.
 */
export function isIntact(thinking: string, signature: string): boolean {
  if (isOurs(signature) || thinking.startsWith(thinkingMark)) return signature === seal('thinking', thinking);
  return isForeign(signature);
}

/** True if sealed content was returned byte-exact; content of other services passes unverified. */
export function isIntactContent(kind: SealKind, content: string): boolean {
  const at = content.indexOf('.');
  if (at < 0 || !isOurs(content.slice(at + 1))) return !content.endsWith(markText);
  return content.slice(at + 1) === seal(kind, content.slice(0, at));
}

/** Encrypted content with its seal: changes of `text` are detected. */
export function sealed(kind: SealKind, text: string): string {
  const encoded = Buffer.from(text).toString('base64url');
  return `${encoded}.${seal(kind, encoded)}`;
}

function isForeign(signature: string): boolean {
  return /^[\w+/=-]{64,}$/.test(signature);
}
