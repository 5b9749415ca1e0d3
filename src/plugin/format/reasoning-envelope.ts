/**
 * Origin of a thinking block without a Messages signature of its vendor. It travels in the block's `signature`, through
 * callers of all formats, and only the gateway opens it.
 */
export interface ReasoningEnvelope {
  /** Vendor or slot that the thinking came from; empty: any, as it is plain text that a caller has sent. */
  readonly vendor: string;
  /** Vendor's own data, sent back to it unchanged: `reasoning_details`, or an encrypted item. */
  readonly data?: unknown;
}

/** Start of every envelope; signatures of vendors are base64, which has no dot. */
const prefix = 'gw2api-reasoning.';

/** Max length of an envelope that is opened. */
const maxLength = 4 * 1024 * 1024;

/** Vendor of the signatures that Gemini gives its tool calls. */
const google = 'google';

/** Envelopes as the `signature` of a thinking block. */
export const reasoningEnvelope = {
  /** Not secret: contains only data that the vendor, or the caller, has sent itself. */
  seal({ vendor, data }: ReasoningEnvelope): string {
    return prefix + Buffer.from(JSON.stringify({ vendor, data })).toString('base64url');
  },

  /** Undefined for a signature of a vendor, and for an envelope that is cut or altered. */
  open(signature: unknown): ReasoningEnvelope | undefined {
    if (!isSealed(signature) || signature.length > maxLength) return undefined;
    const opened = parse(Buffer.from(signature.slice(prefix.length), 'base64url').toString());
    return isEnvelope(opened) ? opened : undefined;
  },

  /** True for an envelope, which no vendor may receive as a signature. */
  isSealed,

  /** Envelope of the signature of a tool call, for a block before the call. */
  sealThought(thought_signature: string): string {
    return reasoningEnvelope.seal({ vendor: google, data: { thought_signature } });
  },

  /** Signature of the tool call after a block; undefined for other blocks. */
  thoughtIn(signature: unknown): string | undefined {
    const { vendor, data } = reasoningEnvelope.open(signature) ?? {};
    if (vendor !== google || typeof data !== 'object' || data === null) return undefined;
    const { thought_signature: thought } = data as { readonly thought_signature?: unknown }; // any object may have it
    return typeof thought === 'string' && thought !== '' ? thought : undefined;
  },
};

function isSealed(signature: unknown): signature is string {
  return typeof signature === 'string' && signature.startsWith(prefix);
}

function isEnvelope(value: unknown): value is ReasoningEnvelope {
  return typeof value === 'object' && value !== null && 'vendor' in value && typeof value.vendor === 'string';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // cut or altered on its way through the caller
  }
}
