import type { RedactedThinkingBlock, ThinkingBlock } from '../plugin/index.js';

export function sealReasoning(block: ThinkingBlock | RedactedThinkingBlock): string {
  return `gw1.${Buffer.from(JSON.stringify(block)).toString('base64url')}`; // a placeholder
}
