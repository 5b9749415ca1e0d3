import type { Loss, MessagesRequest, Tool } from '@gw2api/gateway/plugin';
import { LastResults } from '@gw2api/gateway/plugin/format';
import { withCacheKey, withoutHints } from '../../shared/openai/cache-key.js';
import type { CallTerms } from '../../shared/call-terms.js';
import { withoutAttribution } from '../../shared/openai/attribution.js';
import { withObjectInputs } from '../../shared/call-inputs.js';
import { Dropped } from '../../shared/losses/dropped.js';
import { withOutputConfig, schemaOf, withInstruction } from '../../shared/output-words.js';
import { withinLimit } from '../../shared/max-tokens.js';
import { refuseThread, reportUnread } from '../../shared/openai/unread.js';
import { withExtraFieldsOf } from '../../shared/losses/extra-fields.js';
import { ToolNames, shortUser } from '../../shared/openai/tool-names.js';
import { checkedShape } from '../../shared/request-shape.js';
import { reportUnreadParts } from '../../shared/losses/unread-parts.js';
import { withoutSampling } from '../../shared/without-sampling.js';
import type { Capabilities } from '../capabilities.js';
import { capabilitiesFor } from '../call-capabilities.js';
import type { ChatBody, ChatContent, ChatMessage, ChatPart } from './chat-body.js';
import type { Conversion } from './content.js';
import { chatMessages } from './conversation.js';
import { withLastMarkers, withMarker } from './markers.js';
import { thinkingFields } from './thinking.js';
import { toolFields } from './tools.js';
import { prefillFields } from './turns.js';
import { sentFormat } from '../../shared/openai/openai-schemas.js';

export interface ChatRequest {
  readonly body: ChatBody;
  /** Parts of the Messages request that the server cannot express: `top_k`, `messages[2].content[1]`. */
  readonly losses: readonly Loss[];
  /** Tools of the gateway that are not sent. */
  readonly leftOut: readonly Tool[];
  /** Names of the tools that the answer names. */
  readonly names: ToolNames;
}

/**
 * Chat Completions request, streamed, in the server's dialect; `terms`: the call's other settings. Throws
 * `invalid_request` for a wrong field.
 */
export function chatRequest(
  given: MessagesRequest,
  server: Capabilities,
  terms: CallTerms = {},
): ChatRequest {
  refuseThread(given);
  const { request: objects, cut } = withObjectInputs(withOutputConfig(given));
  const { request: whole, losses } = withinLimit(checkedShape(objects), terms);
  const capabilities = capabilitiesFor(server, terms);
  const dropped = new Dropped([...cut, ...losses]);
  const sampled = withoutSampling(whole, terms.without, dropped);
  const conversion: Conversion = {
    capabilities,
    dialect: dialectFor(capabilities, terms),
    strictTools: capabilities.strictTools,
    strictFormat: true,
    isTranslated: terms.isTranslated,
    dropped,
    names: new ToolNames(),
    results: LastResults.of(whole.messages.map(({ content }) => content)),
    addedTools: terms.addedTools ?? [],
    leftOut: [],
    sentMarkers: new Set(),
  };
  const request = withoutAttribution(sampled, capabilities, dropped);
  const { fields, request: asking } = outputOf(request, conversion);
  const messages = chatMessages(asking, conversion);
  const body = {
    model: request.model,
    messages: capabilities.systemRole === 'user' ? joinedUsers(messages) : messages,
    ...toolFields(request, conversion),
    ...fields,
    ...thinkingFields(request, conversion),
    ...settingFields(request, conversion),
    ...prefillFields(messages, request, capabilities),
    stream: true,
  } as const;
  const marked = withLastMarkers(withMarker(body, request.cache_control, conversion), conversion);
  reportUnread(request, dropped, terms);
  const { leftOut, names, sentMarkers } = conversion;
  reportUnreadParts(whole, dropped, { addedMarkers: terms.addedMarkers, sentMarkers });
  const extended = withExtraFieldsOf(marked, request, capabilities.extraPaths, dropped);
  const keyed = capabilities.promptCacheKey ? withCacheKey(extended, request, terms) : extended;
  const sent = withoutHints(keyed, request, terms, dropped);
  return { body: sent, losses: dropped.losses, leftOut, names };
}

/** Schema dialect of a server, and one that any grammar can express after a failure. */
function dialectFor({ grammar }: Capabilities, { without }: CallTerms): Conversion['dialect'] {
  if (without?.has('grammar')) return 'grammar-minimal';
  return grammar ? 'grammar' : 'openai';
}

/** Messages with neighbouring ones of one user as one, for a server that takes no system text but within theirs. */
function joinedUsers(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const joined: ChatMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.role === 'user' && last?.role === 'user' && message.name === last.name)
      joined[joined.length - 1] = { ...last, content: joinedContent(last.content, message.content) };
    else joined.push(message);
  }
  return joined;
}

function joinedContent(first: ChatContent, second: ChatContent): ChatContent {
  if (typeof first === 'string' && typeof second === 'string') return `${first}\n\n${second}`;
  return [...partsIn(first), ...partsIn(second)];
}

function partsIn(content: ChatContent): readonly ChatPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

interface Output {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Request that asks for the form as text, for a server that cannot enforce it. */
  readonly request: MessagesRequest;
}

/** `response_format` of structured output. Without support for schemas, the system text asks for one. */
function outputOf(request: MessagesRequest, conversion: Conversion): Output {
  const format = request.output_config?.format;
  if (!format) return { fields: {}, request };
  const { structuredOutput } = conversion.capabilities;
  const schema = schemaOf(format);
  const jsonMode = { response_format: { type: 'json_object' } };
  if (!schema && structuredOutput !== 'none') return { fields: jsonMode, request };
  if (structuredOutput === 'json_schema') {
    const json_schema = sentFormat(format, conversion);
    return { fields: { response_format: { type: 'json_schema', json_schema } }, request };
  }
  conversion.dropped.add('output_config.format', schema ? 'setting' : 'mend');
  const fields = structuredOutput === 'json_object' ? jsonMode : {};
  return { fields, request: withInstruction(request, schema) };
}

/** Limits, sampling, the user, and the fields of the stream. */
function settingFields(
  request: MessagesRequest,
  { capabilities, dropped }: Conversion,
): Readonly<Record<string, unknown>> {
  const { temperature, top_p, top_k, stop_sequences: stops = [] } = request;
  const user = request.metadata?.user_id;
  if (top_k !== undefined && !capabilities.topK) dropped.add('top_k');
  if (stops.length > capabilities.maxStops) dropped.add('stop_sequences');
  if (user && !capabilities.user) dropped.add('metadata.user_id', 'mend');
  const stop = stops.slice(0, capabilities.maxStops);
  return {
    ...limitOf(request, capabilities),
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(top_k !== undefined && capabilities.topK && { top_k }),
    ...(stop.length > 0 && { stop }),
    ...(user && capabilities.user && { user: shortUser(user) }),
    stream: true,
    ...(capabilities.streamUsage && { stream_options: { include_usage: true } }),
  };
}

/** The gateway's own value for a caller that sets no limit, if the model's is unknown. */
const noLimit = 128_000;

/** Limit of a request, which Chat does not require: without one the server's own applies. */
function limitOf(
  { max_tokens: limit }: MessagesRequest,
  { maxTokens, maxTokensField }: Capabilities,
): Readonly<Record<string, number>> {
  if (limit === undefined || (maxTokens === undefined && limit >= noLimit)) return {};
  return { [maxTokensField]: Math.min(limit, maxTokens ?? limit) };
}
