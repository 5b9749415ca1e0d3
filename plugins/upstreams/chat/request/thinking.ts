import type { MessagesRequest } from 'gw2api/plugin';
import type { ServerCapabilities } from '../server-capabilities.js';
import type { Conversion } from './content.js';

/** Thinking as a request asks for it; undefined fields are left to the server. */
interface Wish {
  /** `none`, an effort, or undefined. */
  readonly effort: string | undefined;
  readonly budget: number | undefined;
  readonly isOn: boolean;
}

/** Fields that control thinking. What the server cannot be told is reported, unless it is its default anyway. */
export function thinkingFields(
  request: MessagesRequest,
  { capabilities, dropped }: Conversion,
): Readonly<Record<string, unknown>> {
  const wish = wishOf(request);
  if (capabilities.reasoning !== 'none') return writers[capabilities.reasoning](wish, capabilities);
  if (request.output_config?.effort !== undefined) dropped.add('output_config.effort');
  if (wish.budget !== undefined) dropped.add('thinking');
  return {};
}

function wishOf({ thinking, output_config }: MessagesRequest): Wish {
  const budget = thinking?.type === 'enabled' ? thinking.budget_tokens : undefined;
  const effort = thinking?.type === 'disabled' ? 'none' : (output_config?.effort ?? effortOf(budget));
  return { effort, budget, isOn: thinking !== undefined && thinking.type !== 'disabled' };
}

/** Nearest effort of a budget, as the formats read it. */
function effortOf(budget: number | undefined): string | undefined {
  if (budget === undefined) return undefined;
  return budget <= 4096 ? 'low' : budget <= 12_288 ? 'medium' : 'high';
}

type Writer = (wish: Wish, capabilities: ServerCapabilities) => Readonly<Record<string, unknown>>;

const writers: Readonly<Record<Exclude<ServerCapabilities['reasoning'], 'none'>, Writer>> = {
  effort: ({ effort }, { efforts }) => effortField('reasoning_effort', effort, efforts),
  /** OpenRouter: a budget or an effort, not both. */
  object: ({ effort, budget, isOn }, { efforts }) => {
    if (budget !== undefined) return { reasoning: { max_tokens: budget } };
    const chosen = effortField('effort', effort, efforts);
    if (Object.keys(chosen).length > 0) return { reasoning: chosen };
    return isOn ? { reasoning: { enabled: true } } : {};
  },
  /** DeepSeek: a switch, and an effort beside it. */
  thinking: ({ effort, isOn }, { efforts }) => {
    if (effort === 'none') return { thinking: { type: 'disabled' } };
    return {
      ...(isOn && { thinking: { type: 'enabled' } }),
      ...effortField('reasoning_effort', effort, efforts),
    };
  },
};

const order = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The effort itself, else the nearest below it; none below is the lowest that thinks, and `none` is left out. */
function effortField(
  name: string,
  wanted: string | undefined,
  efforts: readonly string[],
): Readonly<Record<string, string>> {
  if (wanted === undefined) return {};
  if (efforts.includes(wanted) || !order.includes(wanted)) return { [name]: wanted };
  if (wanted === 'none') return {};
  const below = order.slice(1, order.indexOf(wanted)).findLast((effort) => efforts.includes(effort));
  const chosen = below ?? order.slice(1).find((effort) => efforts.includes(effort));
  return chosen === undefined ? {} : { [name]: chosen };
}
