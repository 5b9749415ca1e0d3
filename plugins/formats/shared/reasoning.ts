import type { BlockOf } from '@gw2api/gateway/plugin';
import { reasoningEnvelope } from '@gw2api/gateway/plugin/format';
import { seal, unseal } from './sealed.js';

/** A block whose bytes the upstream has signed or encrypted, and which must be returned unchanged. */
export type SignedThinking = BlockOf<'thinking'> | BlockOf<'redacted_thinking'>;

/** A thinking block as opaque text: `reasoning.encrypted_content` of the Responses format. */
export function sealReasoning(block: SignedThinking): string {
  return seal(block);
}

/** Block sealed by `sealReasoning`; undefined for any other text, which only its own vendor can read. */
export function openReasoning(text: string): SignedThinking | undefined {
  const block: unknown = unseal(text);
  return isSignedThinking(block) ? block : undefined;
}

/** Unsigned thinking, as open models send it, which is returned to servers that accept it. `data`: as received. */
export function plainThinking(thinking: string, data?: unknown): BlockOf<'thinking'> {
  return { type: 'thinking', thinking, signature: reasoningEnvelope.seal({ vendor: '', data }) };
}

function isSignedThinking(block: unknown): block is SignedThinking {
  const { type, data, thinking, signature } = Object(block) as Readonly<Record<string, unknown>>; // any object has properties
  if (type === 'redacted_thinking') return typeof data === 'string';
  return type === 'thinking' && typeof thinking === 'string' && typeof signature === 'string';
}
