import type { CatalogModel, Message, Thinking } from '../plugin/index.js';
import type { Dropped } from './dropped.js';

/** How hard the caller wants the model to think. */
export interface ThinkingWish {
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`. */
  readonly effort?: string | null | undefined;
  /** Where the effort stands in the caller's body: `reasoning_effort`, `reasoning.effort`. */
  readonly path: string;
  /** The caller wants to read what the model thinks. */
  readonly isShown: boolean;
}

/** What decides about thinking besides the wish. */
export interface ThinkingContext {
  readonly model: CatalogModel | undefined;
  readonly maxTokens: number | undefined;
  /** A forced tool choice that goes upstream as such: the upstream refuses thinking beside it. */
  readonly isForced: boolean;
  readonly messages: readonly Message[];
}

export interface ThinkingPlan {
  readonly thinking?: Thinking;
  /** For `output_config.effort`. */
  readonly effort?: string;
}

/** Thinking and effort as this model takes them; what it cannot have is reported. */
export function planThinking(wish: ThinkingWish, context: ThinkingContext, dropped: Dropped): ThinkingPlan {
  if (!wish.effort) return {};
  const kind = context.model?.thinking ?? 'adaptive';
  if (wish.effort === 'none') return kind === 'none' ? {} : { thinking: { type: 'disabled' } };
  const level = Object.hasOwn(levels, wish.effort) ? levels[wish.effort] : undefined;
  const plan = level && planners[kind](level, wish.isShown, context);
  if (!plan?.thinking) dropped.add(wish.path);
  return plan ?? {};
}

interface Level {
  readonly effort: string;
  /** The part of `max_tokens` that may go into thinking, and the most tokens it ever gets. */
  readonly share: number;
  readonly ceiling: number;
}

const levels: Readonly<Record<string, Level>> = {
  minimal: { effort: 'low', share: 0.25, ceiling: 4096 },
  low: { effort: 'low', share: 0.25, ceiling: 4096 },
  medium: { effort: 'medium', share: 0.5, ceiling: 12_288 },
  high: { effort: 'high', share: 0.75, ceiling: 24_576 },
  xhigh: { effort: 'xhigh', share: 0.75, ceiling: 32_768 },
  max: { effort: 'max', share: 0.8, ceiling: 49_152 },
};

type Planner = (level: Level, isShown: boolean, context: ThinkingContext) => ThinkingPlan;

const planners: Readonly<Record<CatalogModel['thinking'], Planner>> = {
  adaptive: ({ effort }, isShown, { isForced }) =>
    isForced ? { effort } : { effort, thinking: { type: 'adaptive', ...display(isShown) } },
  budget: (level, isShown, context) => {
    const budget_tokens = budgetOf(level, context.maxTokens ?? context.model?.maxTokens ?? 128_000);
    if (!budget_tokens || context.isForced || isInUnthoughtLoop(context.messages)) return {};
    return { thinking: { type: 'enabled', budget_tokens, ...display(isShown) } };
  },
  none: () => ({}),
};

function display(isShown: boolean): { readonly display?: 'summarized' } {
  return isShown ? { display: 'summarized' } : {};
}

/** At least 1024 and below `max_tokens`, or the upstream refuses it; undefined where that leaves no room. */
function budgetOf({ share, ceiling }: Level, maxTokens: number): number | undefined {
  if (maxTokens <= 1024) return undefined;
  return Math.max(1024, Math.min(ceiling, Math.floor(maxTokens * share)));
}

/** Thinking with a budget must be on from the start of a tool loop: the turn with the calls has to begin with a thought. */
function isInUnthoughtLoop(messages: readonly Message[]): boolean {
  const [calls, results] = messages
    .slice(-2)
    .map(({ content }) => (typeof content === 'string' ? [] : content));
  const isLoop = results?.[0]?.type === 'tool_result';
  const first = calls?.[0]?.type;
  return isLoop && first !== 'thinking' && first !== 'redacted_thinking';
}
