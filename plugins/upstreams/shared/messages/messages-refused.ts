import { isForcedTool, type SlotCall, type Tool } from '@gw2api/gateway/plugin';
import { refusedThinking, type RefusedPart } from '@gw2api/gateway/plugin/upstream';
import { findEarlierThinking } from './earlier-thinking.js';
import { findLimit } from '../max-tokens.js';
import {
  aboutSchema,
  listedEfforts,
  refusedField,
  refuses,
  samplingFields,
  tooComplex,
} from '../openai/openai-refused.js';
import { hasOwnMarker } from './own-markers.js';
import { addedPart, entryValue, type FindPart } from '../losses/refused-part.js';
import type { SchemaOptions } from './schema-options.js';
import { addedTool } from './server-tools.js';
import { findSystem, hasOwnSystem } from '../system-in-user.js';

/** Words of services of the Messages API about parts that stages have added to a request. */
const addedParts: readonly FindPart[] = [
  (said, call, error) => (call.addedLimit || call.isTranslated ? findLimit(said, call, error) : undefined),
  findEarlierThinking,
  (said, call) => (isAboutTool(said, addedToolAt(call)) ? addedPart('web_search') : undefined),
  (said, call) =>
    /\bttl\b/.test(said) && hasOwnMarker(call, 'ttl') ? addedPart('cache_control.ttl') : undefined,
  (said, call) =>
    said.includes('cache_control') && !said.includes('scope') && hasOwnMarker(call, 'marker')
      ? addedPart('cache_control')
      : undefined,
  (said, call, error) => (hasOwnSystem(call) ? findSystem(said, call, error) : undefined),
];

/** Words about translated parts, which a Messages caller has written itself. */
const translatedParts: readonly FindPart[] = [
  (said, { request: { output_config: output } }) => {
    const efforts = /effort/.test(said) ? listedEfforts(said, output?.effort) : [];
    return efforts.length > 0
      ? { without: `efforts=${efforts.join(',')}`, isOfModel: true, isAsked: true }
      : undefined;
  },
  (said, call) => {
    const thinking = refusedThinking(said, call);
    return thinking && { ...thinking, isAsked: true };
  },
  ...samplingFields.map(refusedField),
];

/** Words of services of the Messages API about parts of a request, limited to those that its slot supports. */
export function messagesParts({
  structuredOutput = true,
  strictTools = true,
}: Partial<SchemaOptions>): readonly FindPart[] {
  const translated = structuredOutput ? [findFormat, ...translatedParts] : translatedParts;
  return [
    ...addedParts,
    (said, call) => findStrict(said, call, strictTools),
    ...translated.map(
      (find): FindPart =>
        (said, call, error) =>
          call.isTranslated ? find(said, call, error) : undefined,
    ),
  ];
}

/** Output format of a service without any; a format that it cannot compile is a fault of its schema. */
const findFormat: FindPart = (said, { request: { output_config: output } }) => {
  const isSchema = aboutSchema.test(said);
  const isFormat = isSchema ? tooComplex.test(said) : refuses.test(said) && aboutFormat.test(said);
  return output?.format && isFormat
    ? { without: 'output_format', isOfModel: !isSchema, isAsked: true }
    : undefined;
};

const aboutFormat = /output_format|output_config(?!\S{0,20}effort)|structured.?outputs?|json_schema/;

/**
 * Tools of the gateway's and translation's own that are strict: first those of the caller, and last the one that a
 * choice has named.
 */
function findStrict(
  said: string,
  { isTranslated, request, without }: SlotCall,
  strictTools: boolean,
): RefusedPart | undefined {
  const strict = toolsOf(request).filter((tool): tool is Tool => tool?.strict === true);
  const isForced = strict.some(isForcedTool);
  const isAsked = isTranslated === true && strictTools && strict.some((tool) => !isForcedTool(tool));
  const refused = entryValue(without, 'strict');
  const isNamed = /\bstrict\b/.test(said);
  const isSchema = aboutSchema.test(said);
  const isUnknown = isNamed && refuses.test(said) && !isSchema;
  if (!isUnknown && !(tooComplex.test(said) && (isNamed || isSchema))) return undefined;
  if (isUnknown && (isForced || isAsked))
    return strictPart(isForced ? 'strict=all' : 'strict', true, isAsked);
  if (isAsked && refused === undefined) return strictPart('strict', false, true);
  const isFormatFirst =
    isTranslated === true && request.output_config?.format && !without?.has('output_format');
  return isForced && !isFormatFirst ? strictPart('strict=all', false, false) : undefined;
}

function strictPart(without: string, isOfModel: boolean, isAsked: boolean): RefusedPart {
  return { without, isOfModel, isAsked };
}

/** Tools of a request, which are not validated. */
function toolsOf({ tools }: SlotCall['request']): readonly (Tool | null)[] {
  return Array.isArray(tools) ? tools : [];
}

/** Index of the gateway's own tool in a request; -1: it has none. */
export function addedToolAt(call: SlotCall): number {
  return toolsOf(call.request).findIndex((tool) => addedTool(tool, call) !== undefined);
}

function isAboutTool(said: string, at: number): boolean {
  if (at < 0) return false;
  return /web.?search|server.?tool/.test(said) || new RegExp(`tools[.[/]${at}\\b`).test(said);
}
