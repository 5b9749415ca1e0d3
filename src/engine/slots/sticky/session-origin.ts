import { type MessagesRequest, toolLoop, type ContentBlock, type Message } from '../../../plugin/index.js';
import type { PickTerms, SessionMove } from '../../../plugin/core.js';
import type { PoolContext } from '../selection/pool-context.js';
import type { SlotEntry, WantedModel } from '../pool/slot-entry.js';
import type { SessionBinding } from './session-binding.js';
import type { Origin } from './session-origins.js';
import { reasoningEnvelope } from '../../../plugin/format/index.js';

/** Origin of the thinking in the requests of one session, as far as it is known; none without a session. */
export class SessionOrigin {
  readonly #context: PoolContext;
  readonly #sticky: PickTerms['sticky'];
  #origin: Origin | undefined;
  #isLoaded = false;

  constructor(context: PoolContext, { sticky }: Pick<PickTerms, 'sticky'>) {
    this.#context = context;
    this.#sticky = sticky;
  }

  /** Organization that the session stays with. */
  get organization(): string | undefined {
    return this.#origin?.organization;
  }

  get slotId(): string | undefined {
    return this.#origin?.slotId;
  }

  /**
   * Finds the origin for the first call of a request: the one kept for its model, else the slot of the session's former
   * binding.
   */
  load(model: WantedModel, binding: SessionBinding): void {
    if (!this.#sticky || this.#isLoaded) return;
    this.#isLoaded = true;
    this.#origin = this.#context.origins.get(this.#sticky.key, model.id) ?? this.#bound(model, binding);
    if (binding.isDropped) this.keep(model);
  }

  /** Keeps the origin, which the session's binding no longer contains. */
  keep({ id }: WantedModel): void {
    if (this.#sticky && this.#origin)
      this.#context.origins.keep(this.#sticky.key, id, this.#origin, this.#sticky.ttlMs);
  }

  /**
   * Allowed slots of a request: within a tool loop with thinking only those of the organization, as long as any of
   * them serves the model.
   */
  reachable(
    entries: readonly SlotEntry[],
    request: MessagesRequest,
    model: WantedModel,
  ): readonly SlotEntry[] {
    const organization = this.#origin?.organization;
    if (organization === undefined || entries.every((entry) => entry.organization === organization))
      return entries;
    const own = entries.filter((entry) => entry.organization === organization && entry.serves(model));
    return own.length > 0 && thinkingTurns(request).isHeld ? own : entries;
  }

  /** Moves that concern the thinking in a request to a slot. */
  movedTo(entry: SlotEntry, request: MessagesRequest): SessionMove | undefined {
    const origin = this.#originIn(entry, request);
    if (!origin?.isMoved) return undefined;
    const { dispensable, isHeld } = thinkingTurns(request);
    const isOther = origin.slotId !== this.slotId;
    // A conversation that has not more messages than the one that was moved is another one of the session.
    const isLonger = isOther || messagesOf(request).length > origin.foreign;
    const foreign = isLonger ? Math.min(origin.foreign, dispensable) : 0;
    return { foreign, doubtful: isHeld ? foreign : dispensable };
  }

  /** Sets the slot that has answered a request as the origin. */
  answered(entry: SlotEntry, request: MessagesRequest, model: WantedModel): void {
    if (!this.#sticky) return;
    const before = this.#origin;
    this.#origin = this.#originIn(entry, request) ?? toOrigin(entry);
    if (before && this.#origin.isMoved) this.keep(model);
  }

  /** Assigns all earlier messages of a request to another organization than the origin's. */
  disowned(request: MessagesRequest, model: WantedModel): void {
    if (this.#origin) this.#origin = { ...this.#origin, foreign: messagesOf(request).length };
    this.keep(model);
  }

  /** Origin of a session whose request moves to a slot, with its messages so far as older than the move. */
  #originIn(entry: SlotEntry, request: MessagesRequest): Origin | undefined {
    const origin = this.#origin;
    if (!origin || origin.slotId === entry.id) return origin;
    const { organization } = entry;
    const isForeign = origin.organization !== organization;
    const foreign = isForeign ? messagesOf(request).length : origin.foreign;
    return { slotId: entry.id, organization, isMoved: true, foreign };
  }

  #bound(model: WantedModel, { boundId }: SessionBinding): Origin | undefined {
    const entry =
      boundId === undefined ? undefined : this.#context.entries().find(({ id }) => id === boundId);
    return entry?.serves(model) ? toOrigin(entry) : undefined;
  }
}

function toOrigin({ id, organization }: SlotEntry): Origin {
  return { slotId: id, organization, isMoved: false, foreign: 0 };
}

/** Turns of a conversation, by the number of messages from its first. */
interface ThinkingTurns {
  /** Messages whose thinking a call can do without: all, except for a tool loop that needs its own. */
  readonly dispensable: number;
  /** True within a tool loop with signed thinking, which must stay unchanged. */
  readonly isHeld: boolean;
}

/** Messages of a request, which are not validated. */
function messagesOf({ messages }: MessagesRequest): readonly (Message | null)[] {
  return Array.isArray(messages) ? messages : [];
}

function thinkingTurns(request: MessagesRequest): ThinkingTurns {
  const messages = messagesOf(request);
  const { thinking } = request;
  const all = { dispensable: messages.length, isHeld: false };
  if (thinking?.type === 'disabled' || !toolLoop(messages)) return all;
  const asked = messages.findLastIndex((message) => message?.role === 'user' && !hasResults(message)) + 1;
  return messages.slice(asked).some(hasSigned) ? { dispensable: asked, isHeld: true } : all;
}

function hasResults({ content }: Message): boolean {
  return Array.isArray(content) && content[0]?.type === 'tool_result';
}

function hasSigned(message: Message | null): boolean {
  return message?.role === 'assistant' && Array.isArray(message.content) && message.content.some(isSigned);
}

/** True for thinking that a vendor has signed; an envelope of the gateway is opened by the gateway. */
function isSigned(block: ContentBlock | null): boolean {
  if (block?.type === 'redacted_thinking') return true;
  return block?.type === 'thinking' && !reasoningEnvelope.isSealed(block.signature);
}
