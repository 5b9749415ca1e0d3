import { GatewayError, Type, type ContentBlock, type MessagesRequest } from '@gw2api/gateway/plugin';
import { compileCheck, formatPath } from '@gw2api/gateway/plugin/format';
import type { CallSignal } from '@gw2api/gateway/plugin/raw';
import { withContent, type RemotePhase, type ReviewVerdict } from '@gw2api/gateway/plugin/remote';
import { inputJson } from '@gw2api/gateway/plugin/upstream';
import { replaceTexts } from '../shared/request-texts.js';
import {
  refusalText,
  type AnswerVerdict,
  type Conversation,
  type RequestVerdict,
  type WholeAnswer,
} from './conversation.js';
import { replyJson, type Remote, type RemoteContext } from './remote.js';

/** Questions in the protocol of LiteLLM's Generic Guardrail API: about the texts of a request, or of an answer. */
export class LitellmConversation implements Conversation {
  readonly #remote: Remote;
  readonly #ctx: RemoteContext;
  readonly #id: string;

  constructor(remote: Remote, ctx: RemoteContext, id: string) {
    this.#remote = remote;
    this.#ctx = ctx;
    this.#id = id;
  }

  async aboutRequest(request: MessagesRequest, until: CallSignal): Promise<RequestVerdict> {
    const { parts } = this.#remote.settings;
    let blocked: string | undefined;
    const ask = async (texts: readonly string[]): Promise<readonly string[]> => {
      const fields = { texts, ...(parts.includes('messages') && { images: imagesOf(request) }) };
      const reply = await this.#ask('request', fields, until);
      if (reply.action === 'BLOCKED') blocked = reply.blocked_reason ?? refusalText;
      return reply.action === 'GUARDRAIL_INTERVENED' ? (reply.texts ?? texts) : texts;
    };
    const changed = await replaceTexts(request, ask, { system: parts.includes('system') });
    if (blocked !== undefined) return { kind: 'deny', reply: { message: blocked } };
    return changed === request ? { kind: 'allow' } : { kind: 'change', request: changed };
  }

  async aboutAnswer(
    _request: MessagesRequest,
    { message, events }: WholeAnswer,
    until: CallSignal,
  ): Promise<AnswerVerdict> {
    const { content } = message;
    const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    const tool_calls = content.flatMap(toolCall);
    const fields = { texts, ...(tool_calls.length > 0 && { tool_calls }) };
    const reply = await this.#ask('answer', fields, until);
    if (reply.action === 'BLOCKED') return { kind: 'refuse', message: reply.blocked_reason ?? refusalText };
    if (reply.action === 'NONE' || !reply.texts) return { kind: 'allow' };
    const next = reply.texts.values();
    const changed = content.map((block) =>
      block.type === 'text' ? { ...block, text: next.next().value ?? block.text } : block,
    );
    return { kind: 'change', events: withContent(events, message, changed) };
  }

  aboutEvents(): Promise<ReviewVerdict> {
    throw new GatewayError('internal', 'The protocol litellm does not know events.'); // refused by the options
  }

  #ask(phase: RemotePhase, fields: Fields, until: CallSignal): Promise<Reply> {
    const { caller, trace, request } = this.#ctx.state;
    const { settings } = this.#remote;
    const body = JSON.stringify({
      ...fields,
      request_data: {
        user_api_key_hash: caller?.keyId ?? null,
        user_api_key_alias: caller?.name ?? null,
        user_api_key_team_id: caller?.team?.id ?? null,
        user_api_key_team_alias: caller?.team?.name ?? null,
      },
      input_type: phase === 'request' ? 'request' : 'response',
      model: trace.askedModel ?? request.model,
      litellm_call_id: this.#id,
      litellm_trace_id: this.#ctx.state.requestId,
      additional_provider_specific_params: JSON.parse(settings.context) as object, // an option
    });
    const read = (text: string) => {
      const reply = checkedReply(text, fields.texts.length);
      return { result: reply, verdict: verdicts[reply.action] };
    };
    const path = '/beta/litellm_basic_guardrail_api';
    return this.#remote.ask({ phase, id: this.#id, seq: 0, body, path, read }, until);
  }
}

interface Fields {
  readonly texts: readonly string[];
  readonly [name: string]: unknown;
}

interface Reply {
  readonly action: keyof typeof verdicts;
  readonly blocked_reason?: string | null;
  readonly texts?: readonly string[] | null;
}

/** Actions as the verdicts that are counted. */
const verdicts = { NONE: 'allow', BLOCKED: 'refuse', GUARDRAIL_INTERVENED: 'change' } as const;

const ReplySchema = Type.Object({
  action: Type.Enum(['NONE', 'BLOCKED', 'GUARDRAIL_INTERVENED']),
  blocked_reason: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  texts: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])),
});
/** Compiled at the first reply. */
const compiled: { check?: ReturnType<typeof compileCheck> } = {};

/** Throws an Error that says what is wrong, without contents. */
function checkedReply(text: string, count: number): Reply {
  const value = replyJson(text);
  const check = (compiled.check ??= compileCheck(ReplySchema));
  const [error] = check(value);
  if (error) throw new TypeError(`${formatPath(error.path, 'reply')}: ${error.message}`);
  const reply = value as Reply; // it conforms
  if (reply.action === 'GUARDRAIL_INTERVENED' && reply.texts && reply.texts.length !== count)
    throw new TypeError(`texts: has ${reply.texts.length} texts in place of ${count}`);
  return reply;
}

function toolCall(block: ContentBlock): readonly object[] {
  if (block.type !== 'tool_use') return [];
  return [
    { id: block.id, type: 'function', function: { name: block.name, arguments: inputJson(block.input) } },
  ];
}

/** Images of a request as URLs; nobody has checked its messages. */
function imagesOf({ messages }: MessagesRequest): readonly string[] {
  return listOf(messages).flatMap((message) => listOf(fieldsOf(message).content).flatMap(imageUrl));
}

function imageUrl(block: unknown): readonly string[] {
  const { type, source } = fieldsOf(block);
  const { url, media_type: mediaType, data } = fieldsOf(source);
  if (type !== 'image') return [];
  if (typeof url === 'string') return [url];
  return typeof data === 'string' ? [`data:${String(mediaType)};base64,${data}`] : [];
}

type Named = 'content' | 'type' | 'source' | 'url' | 'media_type' | 'data';

function fieldsOf(value: unknown): Readonly<Partial<Record<Named, unknown>>> {
  return typeof value === 'object' && value !== null ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
