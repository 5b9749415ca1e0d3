import { isTooDeep } from 'gw2api/plugin/format';
import { isRecord } from './body.js';
import type { BlockOf } from 'gw2api/plugin';

/** A block whose bytes the upstream has signed or encrypted: it must come back as it was. */
export type SignedThinking = BlockOf<'thinking'> | BlockOf<'redacted_thinking'>;

/** Prefix that separates reasoning sealed here from other vendors' encrypted reasoning. */
const prefix = 'gw1.';

/** A thinking block as opaque text: `reasoning.encrypted_content` of the Responses format. */
export function sealReasoning(block: SignedThinking): string {
  return prefix + Buffer.from(JSON.stringify(block)).toString('base64url');
}

/** Block sealed by `sealReasoning`; undefined for any other text, which only its own vendor can read. */
export function openReasoning(text: string): SignedThinking | undefined {
  if (!text.startsWith(prefix)) return undefined;
  const json = Buffer.from(text.slice(prefix.length), 'base64url').toString();
  const block = parseJson(json);
  return isSignedThinking(block) && !isTooDeep(block, json) ? block : undefined;
}

function isSignedThinking(block: unknown): block is SignedThinking {
  if (!isRecord(block)) return false;
  if (block['type'] === 'redacted_thinking') return typeof block['data'] === 'string';
  return (
    block['type'] === 'thinking' &&
    typeof block['thinking'] === 'string' &&
    typeof block['signature'] === 'string'
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // truncated or altered in transit: treated as foreign
  }
}
