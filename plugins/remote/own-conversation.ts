import type { Json, MessagesRequest, ModelEvent } from '@gw2api/gateway/plugin';
import type { CallSignal } from '@gw2api/gateway/plugin/raw';
import {
  changedEvents,
  changedRequest,
  checkedReply,
  eventsJson,
  requestView,
  viewJson,
  withContent,
  type RemotePhase,
  type RemoteReplies,
  type ReviewChunk,
  type ReviewVerdict,
} from '@gw2api/gateway/plugin/remote';
import {
  refusalText,
  type AnswerVerdict,
  type Conversation,
  type RequestVerdict,
  type WholeAnswer,
} from './conversation.js';
import { headersView, sessionOf } from './context-view.js';
import { replyJson, type Remote, type RemoteContext } from './remote.js';

/** Members of a question by name, each with its JSON. */
type Members = Readonly<Record<string, string>>;

/** Questions in the protocol of gw2api. */
export class OwnConversation implements Conversation {
  readonly #remote: Remote;
  readonly #ctx: RemoteContext;
  readonly #id: string;
  #state: Json = null;
  #seq = 0;

  constructor(remote: Remote, ctx: RemoteContext, id: string) {
    this.#remote = remote;
    this.#ctx = ctx;
    this.#id = id;
  }

  aboutRequest(request: MessagesRequest, until: CallSignal): Promise<RequestVerdict> {
    const { parts } = this.#remote.settings;
    return this.#ask('request', { members: this.#sent(request), until }, (reply) => {
      if (reply.verdict === 'deny') return { kind: 'deny', reply };
      if (reply.verdict === 'change')
        return { kind: 'change', request: changedRequest(request, parts, reply) };
      return plain(reply);
    });
  }

  aboutAnswer(
    request: MessagesRequest,
    { message, events }: WholeAnswer,
    until: CallSignal,
  ): Promise<AnswerVerdict> {
    const { content, stop_reason, usage } = message;
    const members = {
      ...this.#sent(request),
      answer: JSON.stringify({ content, stop_reason: stop_reason ?? null, usage }),
    };
    return this.#ask('answer', { members, until }, (reply) =>
      reply.verdict === 'change'
        ? { kind: 'change', events: withContent(events, message, reply.content) }
        : plain(reply),
    );
  }

  aboutEvents(request: MessagesRequest, chunk: ReviewChunk, until: CallSignal): Promise<ReviewVerdict> {
    const { events, isLast } = chunk;
    const seq = this.#seq;
    this.#seq += 1;
    const members = {
      ...(seq === 0 && this.#sent(request)),
      seq: String(seq),
      events: eventsJson(events),
      last: String(isLast),
    };
    return this.#ask('events', { members, until, seq }, (reply) => {
      const verdict = eventsVerdict(reply, events);
      chunk.check(verdict);
      return verdict;
    });
  }

  #ask<Phase extends RemotePhase, Verdict>(
    phase: Phase,
    question: { readonly members: Members; readonly until: CallSignal; readonly seq?: number },
    verdictOf: (reply: RemoteReplies[Phase]) => Verdict,
  ): Promise<Verdict> {
    const { members, until, seq = 0 } = question;
    const read = (text: string) => {
      const reply = checkedReply(phase, replyJson(text));
      const result = verdictOf(reply);
      this.#keep(reply);
      return { result, verdict: reply.verdict };
    };
    const body = this.#question(phase, members);
    return this.#remote.ask({ phase, id: this.#id, seq, body, read }, until);
  }

  /** Keeps the state of a reply, and sets its tags. */
  #keep({ state = null, tags = {} }: RemoteReplies[RemotePhase]): void {
    if (!this.#remote.settings.audit)
      for (const [name, value] of Object.entries(tags)) this.#ctx.state.trace.tag(name, value);
    this.#state = state;
  }

  #question(phase: RemotePhase, members: Members): string {
    const { host, settings } = this.#remote;
    const { format, delivery, trace } = this.#ctx.state;
    const always: Members = {
      version: '1',
      id: JSON.stringify(this.#id),
      stage: JSON.stringify(host.name),
      pipeline: JSON.stringify(trace.pipeline),
      phase: JSON.stringify(phase),
      format: JSON.stringify(format),
      stream: String(delivery === 'stream'),
      context: settings.context,
      state: JSON.stringify(this.#state),
    };
    const all = Object.entries({ ...always, ...members });
    return `{${all.map(([name, json]) => `"${name}":${json}`).join()}}`;
  }

  /** Members that the option `send` names, for the first question of a phase. */
  #sent(request: MessagesRequest): Members {
    const { parts, sendsCaller, sendsSession, headers } = this.#remote.settings;
    const { caller } = this.#ctx.state;
    return {
      ...(parts.length > 0 && { request: viewJson(requestView(request, parts)) }),
      ...(sendsCaller && caller && { caller: JSON.stringify(callerView(caller)) }),
      ...(sendsSession && { session: JSON.stringify(sessionOf(this.#ctx, request) ?? null) }),
      ...(headers.length > 0 && { headers: JSON.stringify(headersView(this.#ctx, headers)) }),
    };
  }
}

function eventsVerdict(reply: RemoteReplies['events'], events: readonly ModelEvent[]): ReviewVerdict {
  if (reply.verdict === 'hold') return { kind: 'hold' };
  if (reply.verdict === 'change') return { kind: 'change', events: changedEvents(events, reply.events) };
  return plain(reply);
}

function plain({ verdict, message }: { readonly verdict: string; readonly message?: string | undefined }) {
  return verdict === 'refuse'
    ? { kind: 'refuse' as const, message: message ?? refusalText }
    : { kind: 'allow' as const };
}

function callerView({ keyId, name, team }: NonNullable<RemoteContext['state']['caller']>) {
  return { id: keyId, name, team: team ? { id: team.id, name: team.name } : null };
}
