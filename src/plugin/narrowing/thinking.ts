import type { Message, MessagesRequest, OutputConfig, Thinking } from '../contract/messages.js';
import type { CatalogModel, ModelProfile } from '../contract/models.js';
import { toolLoop } from '../stage/tool-loop.js';
import type { Narrowing } from './narrowing.js';

/** Keeps thinking and effort as the model takes them; reports unsupported settings. */
export function narrowThinking(narrowing: Narrowing): void {
  const { request, profile } = narrowing;
  const { thinking, output_config: output } = request;
  const effort = output?.effort;
  if (thinking === undefined && effort === undefined) return;
  const budget = thinking?.type === 'enabled' ? thinking.budget_tokens : undefined;
  if (thinking?.type === 'disabled' || effort === 'none') {
    narrowing.set(fields(output, stopped(narrowing)));
    return;
  }
  const kind = profile.thinking ?? (budget === undefined ? 'adaptive' : 'budget');
  const wanted = effort ?? effortOf(budget);
  const level = levelOf(wanted, profile);
  const plan = level ? planners[kind](level, { request, budget, profile }) : {};
  if (!plan.thinking || !level)
    narrowing.lose(effort === undefined ? pathOf(budget) : 'output_config.effort');
  else if (budget !== undefined && !hasBudget(plan.thinking, budget)) narrowing.lose(pathOf(budget));
  else if (effort !== undefined && plan.effort !== undefined && plan.effort !== effort)
    narrowing.lose('output_config.effort');
  narrowing.set(fields(output, plan));
}

interface Plan {
  readonly thinking?: Thinking;
  /** Value of `output_config.effort`. */
  readonly effort?: string | undefined;
}

/** Disabled thinking; reported for a model that always thinks. */
function stopped(narrowing: Narrowing): Plan {
  const { thinking: kind, canStopThinking } = narrowing.profile;
  if (canStopThinking === false) narrowing.lose('thinking');
  return kind === 'none' || canStopThinking === false ? {} : { thinking: { type: 'disabled' } };
}

function pathOf(budget: number | undefined): string {
  return budget === undefined ? 'thinking' : 'thinking.budget_tokens';
}

function hasBudget(thinking: Thinking, budget: number): boolean {
  return thinking.type === 'enabled' && thinking.budget_tokens === budget;
}

function fields(
  output: OutputConfig | undefined,
  { thinking, effort }: Plan,
): { thinking: Thinking | undefined; output_config: OutputConfig | undefined } {
  const { effort: _, ...others } = output ?? {};
  const output_config = effort === undefined ? others : { effort, ...others };
  return { thinking, output_config: Object.keys(output_config).length > 0 ? output_config : undefined };
}

/** Nearest effort of a budget, for a model that takes no budget. */
function effortOf(budget: number | undefined): string {
  if (budget === undefined) return 'auto';
  return budget <= 4096 ? 'low' : budget <= 12_288 ? 'medium' : 'high';
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
  /** Undefined if the model takes none. */
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

interface Wish {
  readonly request: MessagesRequest;
  readonly budget: number | undefined;
  readonly profile: ModelProfile;
}

const planners: Readonly<Record<CatalogModel['thinking'], (level: Level, wish: Wish) => Plan>> = {
  adaptive: ({ effort }, { request }) =>
    isForced(request) ? { effort } : { effort, thinking: { type: 'adaptive', ...displayOf(request) } },
  budget: (level, { request, budget, profile }) => {
    const limit = Math.min(request.max_tokens ?? Infinity, profile.maxTokens ?? 128_000);
    const budget_tokens = budgetOf(level, budget, limit);
    if (budget_tokens === undefined || isForced(request) || isInLoopWithoutThinking(request.messages))
      return {};
    return { thinking: { type: 'enabled', budget_tokens, ...displayOf(request) } };
  },
  none: () => ({}),
};

/** A forced tool choice, beside which the Messages API refuses thinking. */
function isForced({ tool_choice: choice }: MessagesRequest): boolean {
  return choice?.type === 'any' || choice?.type === 'tool';
}

function displayOf({ thinking }: MessagesRequest): { readonly display?: unknown } {
  const display = thinking?.['display'];
  return display === undefined ? {} : { display };
}

/** Budget from 1024 to below the limit, as the API demands; undefined if there is no room for it. */
function budgetOf(
  { share, ceiling }: Level,
  wanted: number | undefined,
  maxTokens: number,
): number | undefined {
  if (maxTokens <= 1024) return undefined;
  if (wanted !== undefined) return Math.max(1024, Math.min(wanted, maxTokens - 1));
  return Math.max(1024, Math.min(ceiling, Math.floor(maxTokens * share)));
}

/** True if the turn with the tool calls lacks thinking, which a budget demands from the start of a tool loop. */
function isInLoopWithoutThinking(messages: readonly Message[]): boolean {
  const loop = toolLoop(messages);
  if (!loop || typeof loop.calls.content === 'string') return loop !== undefined;
  const first = loop.calls.content[0]?.type;
  return first !== 'thinking' && first !== 'redacted_thinking';
}
