import { createHmac } from 'node:crypto';

/** Nine bytes at each end of a seal, so that one changed byte never hides whose it is; nine, for base64 keeps them whole. */
const mark = Buffer.from('simulator');
const markText = mark.toString('base64');
const key = 'the gw2api simulator';

/** What the simulator's own thinking begins with. */
export const thinkingMark = '[simulated thinking]';

export type SealKind = 'thinking' | 'redacted' | 'search';

/** The signature of a text: base64, 88 characters, the same for the same text. */
export function seal(kind: SealKind, text: string): string {
  const digest = createHmac('sha384', key).update(kind).update('\0').update(text).digest();
  return Buffer.concat([mark, digest, mark]).toString('base64');
}

/** Whether `signature` came from a simulator, changed or not. */
export function isOurs(signature: string): boolean {
  return signature.startsWith(markText) || signature.endsWith(markText);
}

/**
 * Whether a thinking block came back byte-exact. Blocks of other services pass where the signature is long base64, for
 * the simulator cannot check them.
 */
export function isIntact(thinking: string, signature: string): boolean {
  if (isOurs(signature) || thinking.startsWith(thinkingMark)) return signature === seal('thinking', thinking);
  return isForeign(signature);
}

/** Whether sealed content came back byte-exact; that of other services passes, for it cannot be checked here. */
export function isIntactContent(kind: SealKind, content: string): boolean {
  const at = content.indexOf('.');
  if (at < 0 || !isOurs(content.slice(at + 1))) return !content.endsWith(markText);
  return content.slice(at + 1) === seal(kind, content.slice(0, at));
}

/** Encrypted content with its seal: `text` cannot be changed unseen. */
export function sealed(kind: SealKind, text: string): string {
  const encoded = Buffer.from(text).toString('base64url');
  return `${encoded}.${seal(kind, encoded)}`;
}

function isForeign(signature: string): boolean {
  return /^[\w+/=-]{64,}$/.test(signature);
}
