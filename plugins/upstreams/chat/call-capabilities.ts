import type { CallTerms } from '../shared/call-terms.js';
import { takenEfforts } from '../shared/effort.js';
import { entryValue } from '../shared/losses/refused-part.js';
import type { Capabilities } from './capabilities.js';

/**
 * Capabilities of a server for one call: without those that it has refused, and those that the model does not have.
 */
export function capabilitiesFor(capabilities: Capabilities, { without, profile }: CallTerms): Capabilities {
  const efforts = entryValue(without, 'effort');
  const asksForThinking = profile?.thinking !== 'none' && efforts !== '';
  if (!without && asksForThinking) return capabilities;
  const { maxTokensField } = capabilities;
  const role = entryValue(without, 'system');
  return {
    ...capabilities,
    ...(!asksForThinking && { reasoning: 'none' as const, mayThink: profile?.thinking !== 'none' }),
    ...(efforts && { efforts: takenEfforts(capabilities.efforts, efforts) }),
    ...(without?.has('top_k') && { topK: false }),
    ...(without?.has('user') && { user: false }),
    ...(without?.has('allowed_tools') && { toolChoice: 'named' as const }),
    ...(without?.has('parallel_tool_calls') && { parallelToolCalls: false }),
    ...(without?.has('stream_options') && { streamUsage: false }),
    ...(without?.has('strict') && { strictTools: false }),
    ...(without?.has('output_format') && { structuredOutput: 'none' as const }),
    ...(without?.has('max_tokens_field') && {
      maxTokensField: maxTokensField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens',
    }),
    ...((role === 'system' || role === 'user') && { systemRole: role }),
  };
}
