/** Start of every envelope; signatures of vendors are base64, which has no dot. */
export const reasoningPrefix = 'gw2api-reasoning.';

/**
 * Envelope of thinking that no vendor has signed as Messages does, as a `signature`. It is no secret: it holds what
 * the vendor, or the caller, has given itself.
 */
export function reasoningEnvelope(envelope: {
  /** Vendor or slot that the thinking came from; empty: any, as the thinking is plain text. */
  readonly vendor: string;
  readonly data?: unknown;
}): string {
  return reasoningPrefix + Buffer.from(JSON.stringify(envelope)).toString('base64url');
}
