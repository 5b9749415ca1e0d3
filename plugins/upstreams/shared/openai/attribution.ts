import { isAttribution, Type, withFields, type MessagesRequest } from '@gw2api/gateway/plugin';
import type { Dropped } from '../losses/dropped.js';

interface AttributionSettings {
  /** True: the block stays in the prompt. */
  readonly keepAttribution?: boolean | undefined;
}

/** Option of a slot whose server does not take the attribution block out of the prompt itself. */
export const keepAttribution = Type.Optional(
  Type.Boolean({
    description:
      'Keeps the attribution block of Claude Code (`x-anthropic-billing-header: …`) in the prompt.',
  }),
);

/**
 * Leaves out Claude Code's attribution block, which does not concern the model and changes with each conversation. Text
 * after its first line stays.
 */
export function withoutAttribution(
  request: MessagesRequest,
  { keepAttribution: isKept }: AttributionSettings,
  dropped: Dropped,
): MessagesRequest {
  if (isKept || request.system === undefined) return request;
  const { system } = request;
  const blocks = typeof system === 'string' ? [{ type: 'text', text: system } as const] : system;
  const [first, ...rest] = blocks;
  if (!isAttribution(first)) return request;
  dropped.add(typeof system === 'string' ? 'system' : 'system[0]', 'mend');
  const end = first.text.indexOf('\n');
  const text = end < 0 ? '' : first.text.slice(end).trim();
  return withFields(request, { system: text === '' ? rest : [{ ...first, text }, ...rest] });
}
