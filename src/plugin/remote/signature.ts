import { createHmac, type KeyObject } from 'node:crypto';

/** Message that a signature covers. */
export interface SignedMessage {
  /** `webhook-id`: unique for each message, the same when it is sent again. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly body: string | Buffer;
}

/** Key of a secret: the bytes of `whsec_` and base64, else those of the text. */
export function signingKey(secret: string): Buffer {
  return secret.startsWith(prefix) ? Buffer.from(secret.slice(prefix.length), 'base64') : Buffer.from(secret);
}

/** Headers of a message by Standard Webhooks: with a signature for each key, the newest first. */
export function signedHeaders(
  { id, atMs, body }: SignedMessage,
  keys: readonly (Buffer | KeyObject)[],
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(atMs / 1000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (keys.length === 0) return headers;
  const signatures = keys.map((key) => `v1,${signatureOf(key, `${id}.${timestamp}.`, body)}`);
  return { ...headers, 'webhook-signature': signatures.join(' ') };
}

function signatureOf(key: Buffer | KeyObject, head: string, body: string | Buffer): string {
  return createHmac('sha256', key).update(head).update(body).digest('base64');
}

const prefix = 'whsec_';
