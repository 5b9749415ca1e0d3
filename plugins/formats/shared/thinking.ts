import type { MessagesRequest } from '@gw2api/gateway/plugin';

/** Thinking effort and budget that the caller requests. */
export interface ThinkingParams {
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`, or `auto`: as the model sees fit. */
  readonly effort?: string | null | undefined;
  /** Tokens that the caller names; a model that takes no such number thinks with an effort. */
  readonly budget?: number;
  /** Path of the request for thinking in the caller's body: `reasoning_effort`, `reasoning.effort`. */
  readonly path: string;
  /** The caller wants to read what the model thinks. */
  readonly isShown: boolean;
  /** The caller does not want it, and has said so. */
  readonly isOmitted?: boolean;
}

/** Fields of a Messages request that ask for thinking, as the caller asked; each upstream narrows them. */
export function thinkingFields({
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
