import { GatewayError, textReply, type MessagesRequest, type ModelReply } from '@gw2api/gateway/plugin';
import { callSignal } from '@gw2api/gateway/plugin/raw';
import type { RequestVerdict } from './conversation.js';
import type { Conversations } from './conversations.js';
import type { Remote, RemoteContext } from './remote.js';

/** Asks about requests, before they have a slot. */
export class RequestPhase {
  readonly #remote: Remote;
  readonly #conversations: Conversations;
  /** Texts of refusals by request. */
  readonly #refused = new WeakMap<object, string>();

  constructor(remote: Remote, conversations: Conversations) {
    this.#remote = remote;
    this.#conversations = conversations;
  }

  /** The request as it may continue. Throws `stage_denied` and `stage_failed`. */
  async review(ctx: RemoteContext): Promise<MessagesRequest> {
    const { request } = ctx.state;
    const conversation = this.#conversations.aboutRequest(ctx);
    if (this.#remote.settings.audit) {
      const asked = this.#remote.beside('request', (until) => conversation.aboutRequest(request, until));
      asked.catch(() => undefined); // counted
      return request;
    }
    const verdict = await conversation.aboutRequest(request, callSignal(ctx.state));
    if (verdict.kind === 'deny') throw denial(verdict, this.#remote.host.name);
    if (verdict.kind === 'refuse') return this.#refuse(ctx, verdict.message);
    return verdict.kind === 'change' ? verdict.request : request;
  }

  isRefused({ req }: Pick<RemoteContext, 'req'>): boolean {
    return this.#refused.has(req);
  }

  /** Reply in place of a call, if the request is refused. */
  refusal({ req }: Pick<RemoteContext, 'req'>): ModelReply | undefined {
    const text = this.#refused.get(req);
    return text === undefined ? undefined : textReply(text, { stopReason: 'refusal' });
  }

  /** A token count has no answer that could be a refusal. */
  #refuse({ state, req }: RemoteContext, message: string): MessagesRequest {
    if (state.operation !== 'generate') throw new GatewayError('stage_denied', message);
    this.#refused.set(req, message);
    return state.request;
  }
}

const types: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};

function denial(
  { reply: { status = 403, message, retryAfter } }: Extract<RequestVerdict, { readonly kind: 'deny' }>,
  stage: string,
): GatewayError {
  return new GatewayError('stage_denied', message ?? `Denied by "${stage}", a rule of this gateway.`, {
    status,
    type: types[status] ?? 'permission_error',
    ...(retryAfter !== undefined && { headers: { 'retry-after': String(retryAfter) } }),
  });
}
