import type { SlotCall } from 'gw2api/plugin';
import { refusedThinking } from 'gw2api/plugin/upstream';
import { findEarlierThinking } from './earlier-thinking.js';
import { findLimit } from './max-tokens.js';
import { refusedField, samplingFields, tooComplex } from './openai-refused.js';
import { hasOwnMarker } from './own-markers.js';
import { addedPart, type FindPart } from './refused-part.js';
import { addedTool } from './server-tools.js';

/** Words of services of the Messages API about what stages have added to a request. */
const addedParts: readonly FindPart[] = [
  findLimit,
  findEarlierThinking,
  (said, call) => (isAboutTool(said, addedToolAt(call)) ? addedPart('web_search') : undefined),
  (said, call) =>
    /\bttl\b/.test(said) && hasOwnMarker(call, 'ttl') ? addedPart('cache_control.ttl') : undefined,
  (said, call) =>
    said.includes('cache_control') && !said.includes('scope') && hasOwnMarker(call, 'marker')
      ? addedPart('cache_control')
      : undefined,
  (said, call) => {
    const thinking = refusedThinking(said, call);
    return thinking && { ...thinking, isAsked: true };
  },
];

/** Words about what translation has chosen, which a Messages caller has written itself. */
const translatedParts: readonly FindPart[] = [
  ...samplingFields.map(refusedField),
  (said, { request: { tools } }) =>
    tooComplex.test(said) && tools?.some(({ strict }) => strict === true)
      ? { without: 'strict', isOfModel: false, isAsked: true }
      : undefined,
];

/** Words of services of the Messages API about parts of a request. */
export const messagesParts: readonly FindPart[] = [
  ...addedParts,
  ...translatedParts.map(
    (find): FindPart =>
      (said, call, error) =>
        call.isTranslated ? find(said, call, error) : undefined,
  ),
];

/** Index of the gateway's own tool in a request; -1: it has none. */
export function addedToolAt(call: SlotCall): number {
  const tools: unknown = call.request.tools; // not validated
  return Array.isArray(tools) ? tools.findIndex((tool) => addedTool(tool, call) !== undefined) : -1;
}

function isAboutTool(said: string, at: number): boolean {
  if (at < 0) return false;
  return /web.?search|server.?tool/.test(said) || new RegExp(`tools(?:\\.|\\[)${at}\\b`).test(said);
}
