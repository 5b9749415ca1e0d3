import { randomUUID } from 'node:crypto';
import { GatewayError, type MessagesRequest } from '@gw2api/gateway/plugin';
import type { CallSignal } from '@gw2api/gateway/plugin/raw';
import { withContent, type RemotePhase, type ReviewVerdict } from '@gw2api/gateway/plugin/remote';
import { requestTexts, withTexts, type RequestTexts } from '../shared/request-texts.js';
import { headersView, sessionOf } from './context-view.js';
import {
  refusalText,
  type AnswerVerdict,
  type Conversation,
  type RequestVerdict,
  type WholeAnswer,
} from './conversation.js';
import { blocksOf, chatMessages, imageUrls, toolCalls } from './litellm-messages.js';
import { readReply, textsOf, type LitellmReply } from './litellm-reply.js';
import { chatTools, withChatTools } from './litellm-tools.js';
import type { Remote, RemoteContext } from './remote.js';

/** Questions in the protocol of LiteLLM's Generic Guardrail API: about the texts of a request, or of an answer. */
export class LitellmConversation implements Conversation {
  readonly #remote: Remote;
  readonly #ctx: RemoteContext;
  /** Call id: a secret, since guards restore by it what they have hidden. */
  readonly #id = randomUUID();

  constructor(remote: Remote, ctx: RemoteContext) {
    this.#remote = remote;
    this.#ctx = ctx;
  }

  async aboutRequest(request: MessagesRequest, until: CallSignal): Promise<RequestVerdict> {
    const { parts } = this.#remote.settings;
    const system = parts.includes('system');
    const tools = parts.includes('tools') ? chatTools(request) : null;
    const withTools = (given: MessagesRequest, reply: LitellmReply): MessagesRequest =>
      tools && reply.tools?.length ? withChatTools(given, reply.tools) : given;
    const { sorted, restored } = contentFirst(requestTexts(request, { system }));
    const fields = { ...requestFields(request, system), tools, texts: sorted };
    const check = (given: LitellmReply) => void withTools(request, given);
    const reply = await this.#ask('request', { request, fields, check }, until);
    if (reply.action === 'BLOCKED') return { kind: 'deny', reply: { message: reasonOf(reply) } };
    const changed = withTexts(request, restored(textsOf(reply, sorted)), { system });
    const next = withTools(changed, reply);
    return next === request ? { kind: 'allow' } : { kind: 'change', request: next };
  }

  async aboutAnswer(
    request: MessagesRequest,
    { message, events }: WholeAnswer,
    until: CallSignal,
  ): Promise<AnswerVerdict> {
    const { content } = message;
    const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    const fields = { texts, tool_calls: orNull(toolCalls(content)) };
    const reply = await this.#ask('answer', { request, fields }, until);
    if (reply.action === 'BLOCKED') return { kind: 'refuse', message: reasonOf(reply) };
    if (!reply.texts?.length) return { kind: 'allow' };
    const next = reply.texts.values();
    const changed = content.map((block) =>
      block.type === 'text' ? { ...block, text: next.next().value ?? block.text } : block,
    );
    return { kind: 'change', events: withContent(events, message, changed) };
  }

  aboutEvents(): Promise<ReviewVerdict> {
    throw new GatewayError('internal', 'The protocol litellm does not know events.'); // refused by the options
  }

  #ask(phase: RemotePhase, { request, fields, check }: Asked, until: CallSignal): Promise<LitellmReply> {
    const body = JSON.stringify({
      ...noFields,
      ...this.#context(request),
      ...fields,
      input_type: phase === 'request' ? 'request' : 'response',
    });
    const read = (text: string) => {
      const reply = readReply(text, fields.texts.length);
      check?.(reply);
      return { result: reply, verdict: verdicts[reply.action] };
    };
    const isWhole = this.#remote.settings.url.pathname.replace(/\/+$/, '').endsWith(guardPath);
    const path = isWhole ? '' : guardPath;
    return this.#remote.ask({ phase, id: this.#id, seq: 0, body, path, read }, until);
  }

  /** Fields of both phases; of the caller what the option `send` names. */
  #context(request: MessagesRequest): object {
    const { context, sendsCaller, sendsSession, headers, parts } = this.#remote.settings;
    const { caller, trace, requestId } = this.#ctx.state;
    return {
      litellm_call_id: this.#id,
      litellm_trace_id: (sendsSession && sessionOf(this.#ctx, request)) || requestId,
      request_data: sendsCaller && caller ? callerFields(caller) : {},
      ...(headers.length > 0 && { request_headers: headersView(this.#ctx, headers) }),
      ...(parts.includes('model') && { model: trace.askedModel ?? request.model }),
      additional_provider_specific_params: JSON.parse(context) as object, // an option
    };
  }
}

const guardPath = '/beta/litellm_basic_guardrail_api';

/** Fields as LiteLLM sends them where it has nothing: a guard may require each of them. */
const noFields = {
  structured_messages: null,
  images: null,
  tools: null,
  tool_calls: null,
  model: null,
  request_headers: null,
  litellm_version: 'unknown',
};

interface Fields {
  readonly texts: readonly string[];
  readonly [name: string]: unknown;
}

interface Asked {
  readonly request: MessagesRequest;
  readonly fields: Fields;
  /** Throws an Error for a reply that cannot be carried out. */
  readonly check?: (reply: LitellmReply) => void;
}

/** Actions as the verdicts that are counted. */
const verdicts = { NONE: 'allow', BLOCKED: 'refuse', GUARDRAIL_INTERVENED: 'change' } as const;

function requestFields(request: MessagesRequest, system: boolean): object {
  const blocks = blocksOf(request);
  return {
    structured_messages: orNull(chatMessages(request, { system })),
    images: orNull(blocks.flatMap(imageUrls)),
    tool_calls: orNull(toolCalls(blocks)),
  };
}

/** Fields that have a value: a guard may take null for a fault. */
function callerFields({ keyId, name, team }: NonNullable<RemoteContext['state']['caller']>): object {
  return {
    user_api_key_hash: keyId,
    user_api_key_alias: name,
    ...(team && { user_api_key_team_id: team.id, user_api_key_team_alias: team.name }),
  };
}

/** Texts with those of content first: guards count the texts of messages to find the role of a text. */
function contentFirst({ texts, places }: RequestTexts) {
  const isContent = (at: number): boolean => places[at] === 'content';
  const all = [...texts.keys()];
  const order = [...all.filter(isContent), ...all.filter((at) => !isContent(at))];
  return {
    sorted: order.map((at) => texts[at] ?? ''),
    restored: (next: readonly string[]): readonly string[] => {
      const restored = [...texts];
      for (const [nth, at] of order.entries()) restored[at] = next[nth] ?? '';
      return restored;
    },
  };
}

function reasonOf({ blocked_reason: reason }: LitellmReply): string {
  return typeof reason === 'string' && reason !== '' ? reason : refusalText;
}

function orNull<Item>(list: readonly Item[]): readonly Item[] | null {
  return list.length > 0 ? list : null;
}
