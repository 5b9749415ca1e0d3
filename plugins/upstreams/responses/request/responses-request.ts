import { blockExtraLosses } from '@gw2api/gateway/plugin/upstream';
import {
  extrasOf,
  withExtras,
  type Loss,
  type MessagesRequest,
  type Tool,
  type Message,
} from '@gw2api/gateway/plugin';
import { LastResults } from '@gw2api/gateway/plugin/format';
import { withCacheKey, withoutHints } from '../../shared/openai/cache-key.js';
import type { CallTerms } from '../../shared/call-terms.js';
import { withoutAttribution } from '../../shared/openai/attribution.js';
import { withObjectInputs } from '../../shared/call-inputs.js';
import { Dropped } from '../../shared/losses/dropped.js';
import { reportThinking, sentEffort, thinkingWish } from '../../shared/effort.js';
import { sentFormat } from '../../shared/openai/openai-schemas.js';
import { schemaOf, withInstruction, withOutputConfig } from '../../shared/output-words.js';
import { shortUser, ToolNames } from '../../shared/openai/tool-names.js';
import { withinLimit } from '../../shared/max-tokens.js';
import { refuseThread, reportUnread } from '../../shared/openai/unread.js';
import { extraPaths, withExtraFields, withExtraFieldsOf } from '../../shared/losses/extra-fields.js';
import { checkedShape } from '../../shared/request-shape.js';
import { reportUnreadParts } from '../../shared/losses/unread-parts.js';
import { withSystemInUser } from '../../shared/system-in-user.js';
import { withoutSampling } from '../../shared/without-sampling.js';
import type { ResponsesSettings } from '../options.js';
import { settingsFor, withoutFields } from '../taken-back.js';
import type { InputItem } from './input-items.js';
import type { Conversion } from './parts.js';
import { toolFields } from './tools.js';
import { prefillPath } from '../../shared/losses/placed-blocks.js';
import { inputItems } from './input.js';

type Fields = Readonly<Record<string, unknown>>;

export interface ResponsesRequest {
  readonly body: { readonly input: readonly InputItem[]; readonly [field: string]: unknown };
  /** Parts of the Messages request that Responses cannot express. */
  readonly losses: readonly Loss[];
  /** Tools of the gateway that are not sent. */
  readonly leftOut: readonly Tool[];
  /** Names of the tools that the answer names. */
  readonly names: ToolNames;
}

/**
 * Responses request, streamed and not stored; `terms`: the call's other settings. Throws `invalid_request` for a wrong
 * field.
 */
export function responsesRequest(
  given: MessagesRequest,
  slot: ResponsesSettings,
  terms: CallTerms = {},
): ResponsesRequest {
  refuseThread(given);
  const { request: objects, cut } = withObjectInputs(withOutputConfig(given));
  const { request: whole, losses } = withinLimit(checkedShape(objects), terms);
  const settings = settingsFor(slot, terms);
  const lost = new Dropped([...cut, ...losses]);
  const sampled = withoutSampling(whole, terms.without, lost);
  const conversion: Conversion = {
    settings,
    dialect: 'openai',
    strictTools: settings.strictTools,
    strictFormat: settings.strictTools,
    isTranslated: terms.isTranslated,
    dropped: lost,
    names: new ToolNames(),
    results: LastResults.of(whole.messages.map(({ content }) => content)),
    addedTools: terms.addedTools ?? [],
    leftOut: [],
  };
  const { dropped, leftOut, names } = conversion;
  const instructed = withFormInWords(withoutAttribution(sampled, settings, dropped), conversion);
  const request = settings.takesSystem === false ? withSystemInUser(instructed) : instructed;
  const body = {
    model: request.model,
    ...conversationOf(request, conversion),
    ...toolFields(request, conversion),
    ...reasoningFields(request, settings, dropped),
    ...outputFields(request, conversion),
    ...limitFields(request, dropped),
    store: false,
    stream: true,
    ...includeFields(request, settings),
  };
  reportUnread(request, dropped, terms);
  reportUnreadParts(whole, dropped, { addedMarkers: terms.addedMarkers, phase: true });
  for (const { path, kind } of blockExtraLosses(request)) dropped.add(path, kind);
  const paths = withExtraFields(extraFields, settings.extraFields);
  const extended = withExtraFieldsOf(body, withoutLogprobs(request), paths, dropped);
  const keyed = settings.promptCacheKey ? withCacheKey(extended, request, terms) : extended;
  const hinted = withoutHints(keyed, request, terms, dropped);
  const sent = withoutFields(hinted, terms, dropped);
  return { body: sent, losses: dropped.losses, leftOut, names };
}

/**
 * Extras that the Responses API takes: https://platform.openai.com/docs/api-reference/responses/create. `metadata` is
 * taken without `store`; `service_tier` chooses a price, and is sent by the slot's `extraFields`.
 */
const extraFields = extraPaths(
  'verbosity:text.verbosity reasoning.summary top_logprobs metadata prompt_cache_key prompt_cache_retention safety_identifier truncation',
);

/** `include`, which also asks for log probabilities. */
function includeFields(request: MessagesRequest, { encryptedReasoning }: ResponsesSettings): Fields {
  const include = [
    ...(encryptedReasoning ? ['reasoning.encrypted_content'] : []),
    ...(extrasOf(request)['logprobs'] === true ? ['message.output_text.logprobs'] : []),
  ];
  return include.length > 0 ? { include } : {};
}

/** Request without the extra that `include` already covers. */
function withoutLogprobs(request: MessagesRequest): MessagesRequest {
  const { logprobs, ...others } = extrasOf(request);
  return logprobs === true ? withExtras(request, others) : request;
}

/** `reasoning` for a request with thinking settings; with a summary if the caller wants to read it. */
function reasoningFields(
  request: MessagesRequest,
  { efforts, reasoning: isTaken = true, mayThink = true }: ResponsesSettings,
  dropped: Dropped,
): Fields {
  if (!isTaken) {
    reportThinking(request, mayThink, dropped);
    return {};
  }
  const wish = thinkingWish(request);
  const effort = sentEffort(wish, efforts, dropped);
  const isAsked = 'reasoning.summary' in extrasOf(request); // and written with them
  const isShown = wish.isOn && !isAsked && request.thinking?.['display'] !== 'omitted';
  const reasoning = { ...(effort !== undefined && { effort }), ...(isShown && { summary: 'auto' }) };
  return Object.keys(reasoning).length > 0 ? { reasoning } : {};
}

/** The request that asks for the form of the answer as text, if the server has refused to enforce it. */
function withFormInWords(request: MessagesRequest, { settings, dropped }: Conversion): MessagesRequest {
  const { format, ...others } = request.output_config ?? {};
  if (settings.structuredOutput !== false || !format) return request;
  const schema = schemaOf(format);
  dropped.add('output_config.format', schema ? 'setting' : 'mend');
  return withInstruction({ ...request, output_config: others }, schema);
}

function outputFields({ output_config }: MessagesRequest, conversion: Conversion): Fields {
  const format = output_config?.format;
  if (!format) return {};
  if (!schemaOf(format)) return { text: { format: { type: 'json_object' } } };
  return { text: { format: { type: 'json_schema', ...sentFormat(format, conversion) } } };
}

/** The smallest limit that OpenAI takes; agent CLIs ask for a single token to check that a model exists. */
const minTokens = 16;

/** The gateway's own value for a caller that sets no limit, if the model's is unknown. */
const noLimit = 128_000;

function limitFields(request: MessagesRequest, dropped: Dropped): Fields {
  const { max_tokens: limit = noLimit, temperature, top_p, top_k, stop_sequences: stops = [] } = request;
  const user = request.metadata?.user_id;
  if (top_k !== undefined) dropped.add('top_k');
  if (stops.length > 0) dropped.add('stop_sequences');
  const hasIdentifier = 'safety_identifier' in extrasOf(request);
  if (user && hasIdentifier) dropped.add('metadata.user_id');
  return {
    ...(limit < noLimit && { max_output_tokens: Math.max(minTokens, limit) }),
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(user && !hasIdentifier && { safety_identifier: shortUser(user) }),
  };
}

interface Conversation {
  readonly instructions?: string;
  readonly input: readonly InputItem[];
}

/** `instructions` and `input`; system text alone becomes the input, which is required. */
function conversationOf({ system = '', messages }: MessagesRequest, conversion: Conversion): Conversation {
  const input = inputItems(messages, conversion);
  if (isPrefill(messages.at(-1))) conversion.dropped.add(prefillPath(`messages[${messages.length - 1}]`));
  const instructions = typeof system === 'string' ? system : system.map(({ text }) => text).join('\n\n');
  if (instructions === '') return { input };
  if (input.length > 0) return { instructions, input };
  return { input: inputItems([{ role: 'system', content: instructions }], conversion) };
}

/** True for a last turn of the assistant, which the model answers instead of continuing it. */
function isPrefill(message: Message | undefined): boolean {
  if (message?.role !== 'assistant') return false;
  const { content } = message;
  return typeof content === 'string' || !content.some(({ type }) => type === 'tool_use');
}
