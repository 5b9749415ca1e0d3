import { allowedToolsExtra, offeredTools } from '../stage/tool-choice.js';
import type { Loss } from '../contract/loss.js';
import type { SlotCall } from '../contract/slot/slot.js';
import { GatewayError } from '../contract/error.js';
import { extraLosses, extraPath } from '../stage/extras.js';
import { withFields } from '../raw/with-fields.js';
import { narrowBlocks } from './blocks.js';
import { narrowThinking } from './thinking.js';
import { Narrowing } from './narrowing.js';
import { narrowTurns } from './turns.js';
import type { MessagesRequest } from '../contract/messages.js';
import type { ModelProfile } from '../contract/models.js';

/**
 * Call whose translated request a service of the Messages API accepts; reports omitted or lowered parts. The call
 * itself if the caller's format is Messages, since its request is sent unchanged.
 */
export function narrowedForMessages<Call extends SlotCall>(call: Call): Call {
  if (call.isTranslated !== true) return call;
  refuseNoTurn(call);
  refuseBlankEnd(call);
  const narrowing = new Narrowing(call);
  narrowThinking(narrowing);
  narrowSampling(narrowing);
  narrowStops(narrowing);
  narrowBlocks(narrowing);
  narrowTools(narrowing, call);
  narrowTurns(narrowing); // last, as it moves what paths are of
  const { request } = narrowing;
  const losses = [...narrowing.losses, ...extraLosses(call).filter(isLost)];
  if (losses.length > 0) call.report?.(losses);
  if (request === call.request) return call;
  const changed: Partial<SlotCall> = { request };
  return withFields(call, changed as Partial<Call>); // `request` has the same type in each kind of call
}

/** Offers only the allowed tools, as the Messages API has no list of them. */
function narrowTools(narrowing: Narrowing, { request, addedTools }: SlotCall): void {
  const offered = offeredTools(request, addedTools);
  if (offered.length === (request.tools?.length ?? 0)) return;
  narrowing.set(offered.length > 0 ? { tools: offered } : { tool_choice: { type: 'none' } });
}

/** False for the list of allowed tools, which the request already honours. */
function isLost({ path }: Loss): boolean {
  return path !== extraPath(allowedToolsExtra);
}

/** Refuses system text alone, which the Messages API does not accept as a conversation. */
function refuseNoTurn({ request: { messages } }: SlotCall): void {
  if (messages.length > 0) return;
  throw new GatewayError(
    'invalid_request',
    'messages: must contain a user or assistant message for this upstream',
  );
}

/** Refuses an empty last user turn, as the Messages API does, with the caller's own path. */
function refuseBlankEnd({ request: { messages }, report }: SlotCall): void {
  const last = messages.at(-1);
  if (last?.role !== 'user' || typeof last.content === 'string') return;
  if (!last.content.every((block) => block.type === 'text' && isBlank(block.text))) return;
  report?.([{ path: `messages[${messages.length - 1}]`, kind: 'content' }], { reject: true });
}

/** Removes stop sequences of only white space, which the Messages API refuses. */
function narrowStops(narrowing: Narrowing): void {
  const { stop_sequences: stops } = narrowing.request;
  if (!stops?.some(isBlank)) return;
  const kept = stops.filter((text) => !isBlank(text));
  narrowing.set({ stop_sequences: kept.length > 0 ? kept : undefined });
  narrowing.lose('stop_sequences');
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

type Sampling = Pick<MessagesRequest, (typeof names)[number]>;

const names = ['temperature', 'top_p', 'top_k'] as const;

/** Keeps the sampling parameters that the model takes; reports omitted or lowered ones. */
function narrowSampling(narrowing: Narrowing): void {
  const { request, profile } = narrowing;
  if (names.every((name) => request[name] === undefined)) return;
  const { temperature, top_p, top_k, thinking } = request;
  const given: Sampling = present({ temperature, top_p, top_k });
  const isThinking = thinking !== undefined && thinking.type !== 'disabled';
  const taken = supported[samplingOf(profile)](isThinking ? whileThinking(given) : inRange(given));
  if (names.every((name) => given[name] === taken[name])) return;
  narrowing.set({ temperature: taken.temperature, top_p: taken.top_p, top_k: taken.top_k });
  for (const name of names) {
    const isIdle = given[name] === 1 && taken[name] === undefined;
    if (given[name] !== taken[name] && !isIdle) narrowing.lose(name);
  }
}

const supported: Readonly<Record<ReturnType<typeof samplingOf>, (given: Sampling) => Sampling>> = {
  both: (given) => given,
  one: ({ top_p, ...rest }) => ({
    ...rest,
    ...(rest.temperature === undefined && present({ top_p })),
  }),
  none: () => ({}),
};

/**
 * Limits the temperature to 1, as other vendors allow up to 2. Drops a `top_p` of 1 beside a temperature: it
 * has no effect, and newer models refuse the two together.
 */
function inRange({ temperature, top_p, ...rest }: Sampling): Sampling {
  const isIdle = top_p === 1 && temperature !== undefined;
  return {
    ...rest,
    ...present({
      temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
      top_p: isIdle ? undefined : top_p,
    }),
  };
}

/** Sampling while the model thinks: no temperature, no `top_k`, and `top_p` only from 0.95 to below 1. */
function whileThinking({ top_p }: Sampling): Sampling {
  return top_p !== undefined && top_p >= 0.95 && top_p < 1 ? { top_p } : {};
}

function present(given: { readonly [Key in keyof Sampling]: Sampling[Key] | undefined }): Sampling {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Sampling parameters that a model accepts; an unknown model accepts `temperature` or `top_p`, not both. */
export function samplingOf(model: ModelProfile | undefined): 'both' | 'one' | 'none' {
  if (model?.sampling === undefined) return 'one';
  if (typeof model.sampling === 'boolean') return model.sampling ? 'both' : 'none';
  return model.sampling;
}
