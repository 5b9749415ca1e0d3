import { allowedToolsExtra, offeredTools } from '../stage/allowed-tools.js';
import type { Loss } from '../contract/loss.js';
import type { SlotCall } from '../contract/slot.js';
import { GatewayError } from '../contract/error.js';
import { extraLosses, extraPath } from '../stage/extras.js';
import { withFields } from '../raw/with-fields.js';
import { narrowBlocks } from './blocks.js';
import { narrowSampling } from './sampling.js';
import { narrowThinking } from './thinking.js';
import { Narrowing } from './narrowing.js';
import { narrowTurns } from './turns.js';

/**
 * Call whose translated request a service of the Messages API takes; what is left out or lowered is reported. The
 * call itself where the caller's format is Messages, since its request goes up as it came.
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

/** The Messages API has no list of allowed tools: the others are not offered. */
function narrowTools(narrowing: Narrowing, { request, addedTools }: SlotCall): void {
  const offered = offeredTools(request, addedTools);
  if (offered.length === (request.tools?.length ?? 0)) return;
  narrowing.set(offered.length > 0 ? { tools: offered } : { tool_choice: { type: 'none' } });
}

/** The list of allowed tools is heeded. */
function isLost({ path }: Loss): boolean {
  return path !== extraPath(allowedToolsExtra);
}

/** System text alone is no conversation for the Messages API. */
function refuseNoTurn({ request: { messages } }: SlotCall): void {
  if (messages.length > 0) return;
  throw new GatewayError(
    'invalid_request',
    'messages: must hold a user or assistant message for this upstream',
  );
}

/** A last turn of the user with nothing in it is no turn for the Messages API: the caller is told, by its own path. */
function refuseBlankEnd({ request: { messages }, report }: SlotCall): void {
  const last = messages.at(-1);
  if (last?.role !== 'user' || typeof last.content === 'string') return;
  if (!last.content.every((block) => block.type === 'text' && isBlank(block.text))) return;
  report?.([{ path: `messages[${messages.length - 1}]`, kind: 'content' }], { reject: true });
}

/** The Messages API refuses stop sequences of nothing but white space. */
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
