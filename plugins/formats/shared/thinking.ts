import { toolLoop, type CatalogModel, type Message } from 'gw2api/plugin';
import type { ModelProfile, Thinking } from 'gw2api/plugin/format';
import { present } from './body.js';
import type { UnsupportedFields } from './unsupported-fields.js';

/** Thinking effort and budget that the caller requests. */
export interface ThinkingParams {
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`, or `auto`: as the model sees fit. */
  readonly effort?: string | null | undefined;
  /** Tokens that the caller names; a model that takes no such number thinks with `effort`. */
  readonly budget?: number;
  /** The kind that the caller names, for a model of which nothing is known. */
  readonly kind?: CatalogModel['thinking'];
  /** Path of the effort in the caller's body: `reasoning_effort`, `reasoning.effort`. */
  readonly path: string;
  /** The caller wants to read what the model thinks. */
  readonly isShown: boolean;
  /** Limits and capabilities of the model. */
  readonly profile?: ModelProfile;
}

/** Conditions of the request and the model that decide about thinking, besides the caller's parameters. */
export interface ThinkingContext {
  readonly model: CatalogModel | undefined;
  readonly maxTokens: number | undefined;
  /** A forced tool choice that goes upstream as such: the upstream refuses thinking beside it. */
  readonly isForced: boolean;
  readonly messages: readonly Message[];
}

export interface ThinkingPlan {
  readonly thinking?: Thinking;
  /** Value of `output_config.effort`. */
  readonly effort?: string;
}

/** Thinking and effort as this model takes them; what it cannot have is reported. */
export function planThinking(
  params: ThinkingParams,
  context: ThinkingContext,
  dropped: UnsupportedFields,
): ThinkingPlan {
  if (!params.effort) return {};
  const profile: ModelProfile = params.profile ?? context.model ?? {};
  const { thinking: kind = params.kind ?? 'adaptive', canStopThinking = true } = profile;
  if (params.effort === 'none')
    return kind === 'none' || !canStopThinking ? {} : { thinking: { type: 'disabled' } };
  const level = levelOf(params.effort, profile);
  const plan = level && planners[kind](level, params, { ...context, profile });
  if (!plan?.thinking || !isWithin(params, plan)) dropped.add(params.path);
  return plan ?? {};
}

/** True where the model thinks with the number of tokens that the caller named, and where none was named. */
function isWithin({ budget }: ThinkingParams, { thinking }: ThinkingPlan): boolean {
  return budget === undefined || (thinking?.type === 'enabled' && thinking.budget_tokens === budget);
}

function levelOf(wanted: string, { efforts }: ModelProfile): Level | undefined {
  const level = Object.hasOwn(levels, wanted) ? levels[wanted] : undefined;
  return level && efforts ? { ...level, effort: nearestEffort(level.effort, efforts) } : level;
}

/** The level itself, else the highest below it that the model takes. */
function nearestEffort(wanted: string | undefined, taken: readonly string[]): string | undefined {
  const order = ['low', 'medium', 'high', 'xhigh', 'max'];
  const below = order.slice(0, order.indexOf(wanted ?? '') + 1);
  return below.findLast((level) => taken.includes(level));
}

interface Level {
  /** Undefined: the model takes none. */
  readonly effort: string | undefined;
  /** Share of `max_tokens` for thinking, and its max in tokens. */
  readonly share: number;
  readonly ceiling: number;
}

const levels: Readonly<Record<string, Level>> = {
  auto: { effort: undefined, share: 0.5, ceiling: 12_288 },
  minimal: { effort: 'low', share: 0.25, ceiling: 4096 },
  low: { effort: 'low', share: 0.25, ceiling: 4096 },
  medium: { effort: 'medium', share: 0.5, ceiling: 12_288 },
  high: { effort: 'high', share: 0.75, ceiling: 24_576 },
  xhigh: { effort: 'xhigh', share: 0.75, ceiling: 32_768 },
  max: { effort: 'max', share: 0.8, ceiling: 49_152 },
};

type Planner = (level: Level, params: ThinkingParams, context: PlanningContext) => ThinkingPlan;

interface PlanningContext extends ThinkingContext {
  readonly profile: ModelProfile;
}

const planners: Readonly<Record<CatalogModel['thinking'], Planner>> = {
  adaptive({ effort }, { isShown }, { isForced }) {
    const plan = present({ effort });
    return isForced ? plan : { ...plan, thinking: { type: 'adaptive', ...display(isShown) } };
  },
  budget: (level, { budget, isShown }, context) => {
    const maxTokens = context.maxTokens ?? context.profile.maxTokens ?? 128_000;
    const budget_tokens = budgetOf(level, budget, maxTokens);
    if (!budget_tokens || context.isForced || isInLoopWithoutThinking(context.messages)) return {};
    return { thinking: { type: 'enabled', budget_tokens, ...display(isShown) } };
  },
  none: () => ({}),
};

function display(isShown: boolean): { readonly display?: 'summarized' } {
  return isShown ? { display: 'summarized' } : {};
}

/** Budget from 1024 to below `max_tokens`, as the upstream demands; undefined if there is no room for it. */
function budgetOf(
  { share, ceiling }: Level,
  wanted: number | undefined,
  maxTokens: number,
): number | undefined {
  if (maxTokens <= 1024) return undefined;
  if (wanted !== undefined) return Math.max(1024, Math.min(wanted, maxTokens - 1));
  return Math.max(1024, Math.min(ceiling, Math.floor(maxTokens * share)));
}

/**
 * True if the turn with the tool calls lacks thinking, which a budget demands from the start of a tool loop.
 */
function isInLoopWithoutThinking(messages: readonly Message[]): boolean {
  const loop = toolLoop(messages);
  if (!loop || typeof loop.calls.content === 'string') return loop !== undefined;
  const first = loop.calls.content[0]?.type;
  return first !== 'thinking' && first !== 'redacted_thinking';
}
