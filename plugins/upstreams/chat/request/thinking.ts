import type { MessagesRequest } from '@gw2api/gateway/plugin';
import { reportThinking, sentEffort, thinkingWish, type ThinkingWish } from '../../shared/effort.js';
import type { ServerCapabilities } from '../server-capabilities.js';
import type { Conversion } from './content.js';

/**
 * Fields that control thinking. Settings that the server cannot express are reported, unless they are its default.
 */
export function thinkingFields(
  request: MessagesRequest,
  { capabilities, dropped }: Conversion,
): Readonly<Record<string, unknown>> {
  const { reasoning, efforts, mayThink = true } = capabilities;
  const wish = thinkingWish(request);
  if (request.thinking?.['display'] === 'omitted') dropped.add('thinking.display', 'mend');
  if (reasoning !== 'none') return writers[reasoning](wish, () => sentEffort(wish, efforts, dropped));
  reportThinking(request, mayThink, dropped);
  return {};
}

type Writer = (wish: ThinkingWish, effort: () => string | undefined) => Readonly<Record<string, unknown>>;

const writers: Readonly<Record<Exclude<ServerCapabilities['reasoning'], 'none'>, Writer>> = {
  effort: (_, effort) => effortField(effort()),
  /** OpenRouter: a budget or an effort, not both. */
  object: ({ budget, isOn }, effortOf) => {
    if (budget !== undefined) return { reasoning: { max_tokens: budget } };
    const effort = effortOf();
    if (effort !== undefined) return { reasoning: { effort } };
    return isOn ? { reasoning: { enabled: true } } : {};
  },
  /** DeepSeek: a switch, and an effort beside it. */
  thinking: ({ effort: wanted, isOn }, effort) => {
    if (wanted === 'none') return effort() === 'none' ? { thinking: { type: 'disabled' } } : {};
    return { ...(isOn && { thinking: { type: 'enabled' } }), ...effortField(effort()) };
  },
};

function effortField(effort: string | undefined): { readonly reasoning_effort?: string } {
  return effort === undefined ? {} : { reasoning_effort: effort };
}
