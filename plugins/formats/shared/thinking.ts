import { type MessagesRequest, Type } from '@gw2api/gateway/plugin';
import { bodyCheck, isRecord, nullable } from './body.js';
import type { UnsupportedFields } from './unread/unsupported-fields.js';

/** Thinking effort and budget that the caller requests. */
export interface ThinkingParams {
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`, or `auto`: as the model sees fit. */
  readonly effort?: string | null | undefined;
  /** Tokens that the caller names; a model that takes no such number thinks with an effort. */
  readonly budget?: number;
  /** Path of the request for thinking in the caller's body: `reasoning_effort`, `reasoning.effort`. */
  readonly path: string;
  /** True if the caller wants to read the thinking. */
  readonly isShown: boolean;
  /** True if the caller has explicitly disabled it. */
  readonly isOmitted?: boolean;
}

/** Fields of a Messages request that ask for thinking, as the caller asked; each upstream narrows them. */
export function messagesThinking({
  effort,
  budget,
  isShown,
  isOmitted = false,
}: ThinkingParams): Pick<MessagesRequest, 'thinking'> & { readonly effort?: string } {
  const display = isShown ? { display: 'summarized' } : isOmitted ? { display: 'omitted' } : {};
  const named = effort && effort !== 'auto' && effort !== 'none' ? { effort } : {};
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  if (budget !== undefined)
    return { thinking: { type: 'enabled', budget_tokens: budget, ...display }, ...named };
  return effort ? { thinking: { type: 'adaptive', ...display }, ...named } : {};
}

/** Fields by which callers of different dialects request thinking; null means not set. */
interface CallerThinking {
  /** The vendor's own `reasoning_effort`. */
  readonly effort?: string | null | undefined;
  /** `{ effort, max_tokens, enabled, exclude }`, and in Responses `summary`. */
  readonly reasoning?: unknown;
  /** Thinking parameters of Messages: `{ type, budget_tokens, display }`. */
  readonly thinking?: unknown;
}

/** Thinking parameters from all dialects' fields; a field that another one overrides is reported. */
export function readThinking(fields: CallerThinking, dropped: UnsupportedFields): ThinkingParams {
  const { effort, thinking } = fields;
  const reasoning = readReasoning(fields.reasoning, dropped);
  if (effort && contradicts(reasoning, effort)) dropped.add(reasoning.path);
  const params = effort ? { ...reasoning, effort, path: 'reasoning_effort' } : reasoning;
  if (saysNothing(thinking)) return params;
  if (isRecord(thinking)) return withThinking(params, thinking, dropped);
  dropped.add('thinking');
  return params;
}

/**
 * Parameters with those of `thinking`, which is reported if an effort contradicts it. A budget beside an effort does
 * not: the effort takes precedence.
 */
function withThinking(
  params: ThinkingParams,
  thinking: Readonly<Record<string, unknown>>,
  dropped: UnsupportedFields,
): ThinkingParams {
  const own = readOwnThinking(thinking, dropped);
  if (!params.effort) {
    if (params.budget !== undefined && params.budget !== own.budget) dropped.add(params.path);
    return own;
  }
  const isSwitch = own.effort !== undefined || own.budget !== undefined;
  const agrees = isSwitch && (own.effort === 'none') === (params.effort === 'none');
  if (!agrees) dropped.add('thinking');
  const { isOmitted = false } = own;
  return { ...params, isShown: params.isShown || (agrees && own.isShown), isOmitted: agrees && isOmitted };
}

/**
 * True if another effort contradicts these parameters. A budget is compatible with any effort but `none`, as is
 * "enabled".
 */
function contradicts({ effort, budget }: ThinkingParams, other: string): boolean {
  if (budget !== undefined || effort === 'auto') return other === 'none';
  return Boolean(effort) && effort !== other;
}

const checkReasoning = bodyCheck(
  Type.Object({
    effort: nullable(Type.String()),
    max_tokens: nullable(Type.Integer({ minimum: 1 })),
    enabled: nullable(Type.Boolean()),
    exclude: nullable(Type.Boolean()),
  }),
);

function readReasoning(given: unknown, dropped: UnsupportedFields): ThinkingParams {
  const nothing = { path: 'reasoning', isShown: false };
  if (saysNothing(given)) return nothing;
  if (!isRecord(given)) {
    dropped.add('reasoning');
    return nothing;
  }
  const { effort, max_tokens: budget, enabled, exclude } = checkReasoning(given, 'reasoning');
  reportOthers(given, 'reasoning', dropped);
  const isShown = !exclude;
  if (budget && (effort || enabled === false)) dropped.add('reasoning.max_tokens');
  if (effort && enabled === (effort === 'none')) dropped.add('reasoning.enabled');
  if (effort) return { effort, path: 'reasoning.effort', isShown };
  if (enabled === false) return { path: 'reasoning.enabled', isShown: false, effort: 'none' };
  if (budget) return { budget, path: 'reasoning.max_tokens', isShown };
  return enabled ? { effort: 'auto', path: 'reasoning.enabled', isShown } : nothing;
}

const checkThinking = bodyCheck(
  Type.Object({
    type: Type.String(),
    budget_tokens: nullable(Type.Integer({ minimum: 1 })),
    display: nullable(Type.String()),
  }),
);

function readOwnThinking(
  given: Readonly<Record<string, unknown>>,
  dropped: UnsupportedFields,
): ThinkingParams {
  const { type, budget_tokens: budget, display } = checkThinking(given, 'thinking');
  reportOthers(given, 'thinking', dropped);
  const shown = { isShown: display === 'summarized', isOmitted: display === 'omitted' };
  const params = { path: 'thinking.type', ...shown };
  if (budget && type !== 'enabled') dropped.add('thinking.budget_tokens');
  if (type === 'disabled') return { ...params, effort: 'none' };
  if (type === 'adaptive') return { ...params, effort: 'auto' };
  if (type !== 'enabled') {
    dropped.add(params.path);
    return params;
  }
  return budget ? { ...params, budget, path: 'thinking.budget_tokens' } : { ...params, effort: 'auto' };
}

function saysNothing(given: unknown): boolean {
  return given === undefined || given === null || (isRecord(given) && Object.keys(given).length === 0);
}

/**
 * Fields that have their full effect here; those about summaries are reported elsewhere. `exclude` is read but not
 * listed: it only leaves out the wish for a summary, and an upstream may show its thinking anyway.
 */
const read: ReadonlySet<string> = new Set(
  'effort max_tokens enabled summary generate_summary type budget_tokens display'.split(' '),
);

function reportOthers(
  given: Readonly<Record<string, unknown>>,
  path: string,
  dropped: UnsupportedFields,
): void {
  for (const name in given) {
    if (dropped.isFull) return;
    const value = given[name];
    if (!read.has(name) && value && value !== 'auto' && value !== 'standard') dropped.add(`${path}.${name}`);
  }
}
