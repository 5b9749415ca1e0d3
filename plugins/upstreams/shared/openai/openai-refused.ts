import type { MessagesRequest, SlotCall } from '@gw2api/gateway/plugin';
import { allowedTools, type RefusedPart } from '@gw2api/gateway/plugin/upstream';
import { knownEfforts, thinkingWish } from '../effort.js';
import { entryValue, type FindPart } from '../losses/refused-part.js';

/** Field of a vendor's request that is translated from a Messages request, or added to it. */
export interface RefusableField {
  /** Entry of `SlotCall.without`. */
  readonly without: string;
  /** Names that refusals have for it. */
  readonly named: RegExp;
  readonly isSent: (request: MessagesRequest) => boolean;
  /** True for a field that a caller asks for; default false. */
  readonly isAsked?: boolean;
}

/** Finds a field that a server does not take, with any value. */
export function refusedField({ without, named, isSent, isAsked = false }: RefusableField): FindPart {
  return (said, { request }) => {
    if (!refuses.test(said) || !named.test(said) || !isSent(request)) return undefined;
    return { without, isOfModel: aboutModel.test(said), isAsked };
  };
}

/** Words about a field that is not taken, other than about an invalid value. */
export const refuses =
  /support|unknown|unrecogni[sz]ed|unexpected|extra (?:inputs|fields)|not (?:permitted|allowed|compatible|available)|unavailable|deprecated|only the default|only \S{1,20} (?:is|are) (?:allowed|supported)|cannot both|no longer/;

/** Words of a refusal that any request of the model would get. */
const aboutModel =
  /\bmodel\b|unknown|unrecogni[sz]ed|unexpected|extra (?:inputs|fields)|extraneous|not permitted|deprecated|parameter/;

/** Sampling parameters, which models that think refuse. */
export const samplingFields: readonly RefusableField[] = [
  {
    without: 'temperature',
    named: /\btemperature\b/,
    isSent: ({ temperature }) => temperature !== undefined,
    isAsked: true,
  },
  { without: 'top_p', named: /\btop_p\b/, isSent: ({ top_p }) => top_p !== undefined, isAsked: true },
  { without: 'top_k', named: /\btop_k\b/, isSent: ({ top_k }) => top_k !== undefined, isAsked: true },
];

/** Stop sequences, which models that think refuse. */
export const stopField: RefusableField = {
  without: 'stop_sequences',
  named: /['"`]stop['"`]|(?:^|: )stop\b/,
  isSent: ({ stop_sequences: stops }) => Boolean(stops?.length),
  isAsked: true,
};

/** True if one tool at a time is requested, in either vendor's format. */
export const parallelField: RefusableField = {
  without: 'parallel_tool_calls',
  named: /\bparallel_tool_calls\b/,
  isSent: ({ tool_choice: choice }) =>
    choice !== undefined && choice.type !== 'none' && choice.disable_parallel_tool_use === true,
  isAsked: true,
};

/** List of allowed tools; without it only those are offered. */
export const allowedField: RefusableField = {
  without: 'allowed_tools',
  named: /\ballowed_tools\b/,
  isSent: (request) => allowedTools(request) !== undefined,
};

/** Limit of an answer, which a server of subscriptions does not take. */
export const outputLimitField: RefusableField = {
  without: 'max_output_tokens',
  named: /\bmax_output_tokens\b/,
  isSent: ({ max_tokens }) => max_tokens !== undefined,
  isAsked: true,
};

/** User of a request, under the names that vendors have for it. */
export const userField: RefusableField = {
  without: 'user',
  named: /\buser\b|\bsafety_identifier\b/,
  isSent: ({ metadata }) => Boolean(metadata?.user_id),
  isAsked: true,
};

/** Effort or thinking: the refusal's own list of values decides, else none is sent. */
export const findEffort: FindPart = (said, call) => {
  const { effort, isOn } = thinkingWish(call.request);
  if (effort === undefined && !isOn) return undefined;
  const isNamed = aboutEffort.test(said) && (refuses.test(said) || badValue.test(said));
  if (!isNamed && !isQuoted(said, effort)) return undefined;
  const isKnown = effort === undefined || knownEfforts.includes(effort);
  return { without: effortEntry(said, call), isOfModel: isKnown, isAsked: true };
};

const aboutEffort = /reasoning[._ ]?effort|\beffort\b|\breasoning\b|\bthinking\b/;

const badValue =
  /invalid|must be|should be|expected|mandatory|cannot be (?:disabled|turned off)|only (?:be )?enabled when/;

/** True for a refusal that quotes the effort beside a list of others, and names no field, as OpenAI also does. */
function isQuoted(said: string, effort: string | undefined): boolean {
  if (effort === undefined || /verbosity/.test(said)) return false;
  if (!badValue.test(said) && !refuses.test(said)) return false;
  const isSaid = ["'", '"', '`'].some((quote) => said.includes(quote + effort + quote));
  return isSaid && listedEfforts(said, effort).length > 1;
}

/** Efforts that a server takes, as its refusal lists them; the common ones if only a high one is refused. */
function effortEntry(said: string, { without, request }: SlotCall): string {
  const refused = thinkingWish(request).effort;
  const listed = listedEfforts(said, refused);
  if (listed.length > 0) return `effort=${listed.join(',')}`;
  if (refused === 'none') return `effort=${knownEfforts.slice(1).join(',')}`;
  const isRare = refused !== undefined && !usual.includes(refused) && said.includes(refused);
  return isRare && entryValue(without, 'effort') === undefined ? `effort=${usual.join(',')}` : 'effort';
}

const usual: readonly string[] = ['low', 'medium', 'high'];

/** Known efforts in the list of a refusal, except for the refused one. */
export function listedEfforts(said: string, refused: string | undefined): readonly string[] {
  const list = listIn(said);
  return knownEfforts.filter((effort) => effort !== refused && new RegExp(`\\b${effort}\\b`).test(list));
}

/** Part of a refusal that lists values. */
function listIn(said: string): string {
  const at = said.search(
    /supported values|valid values|allowed values|must be one of|expected one of|one of|should be/,
  );
  return at < 0 ? '' : said.slice(at);
}

/**
 * Strict and the output format of a server without them, or with schemas that it cannot compile, a fault of one
 * request: strict is removed first, then the format.
 */
export const findStrict: FindPart = (said, { request, without }) => {
  const isStrict = request.tools?.some(({ strict }) => strict === true) ?? false;
  const format = request.output_config?.format;
  const isUnknown = refuses.test(said) && !aboutSchema.test(said);
  if (isUnknown && (isStrict || format) && /\bstrict\b/.test(said)) return ofModel('strict');
  if (isUnknown && format && aboutFormat.test(said)) return ofModel('output_format');
  if (!tooComplex.test(said)) return undefined;
  if ((isStrict || format) && !without?.has('strict')) return ofRequest('strict');
  return format ? ofRequest('output_format') : undefined;
};

const aboutFormat = /response_format|json_schema|text\.format/;

/** Words about one schema, as opposed to schemas in general. */
export const aboutSchema = /grammar|complex|too many|schema[.:]|schema for|propert|keyword|invalid schema/;

/** Words about schemas that a service cannot compile. */
export const tooComplex =
  /compiled grammar|grammar compilation|compilation cost|schema is too complex|too many (?:states|strict|optional parameters|parameters with union)|invalid schema|when strict|(?:strict|response_format|json_schema|output_config).{0,80}(?:support|permitted|invalid|extra)/;

/** Keywords that a grammar cannot express, used if the server's own limits are unknown. */
export const findGrammar: FindPart = (said, { request }) => {
  if (!/pars(?:e|ing) grammar|grammar.{0,40}(?:fail|error|invalid)/.test(said)) return undefined;
  return request.tools?.length || request.output_config?.format ? ofRequest('grammar') : undefined;
};

function ofModel(without: string): RefusedPart {
  return { without, isOfModel: true, isAsked: true };
}

function ofRequest(without: string): RefusedPart {
  return { without, isOfModel: false, isAsked: true };
}
