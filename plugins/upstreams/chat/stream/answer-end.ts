import { GatewayError, type StopReason } from '@gw2api/gateway/plugin';
import { finishKind } from '../../shared/answer/finish-words.js';
import type { Fields } from '../../shared/fields.js';
import { malformed, streamError } from '../../shared/openai/openai-stream-error.js';

/** Tool calls of an answer that ends. */
export interface EndedCalls {
  readonly hasAny: boolean;
  /** True if one of them ends in the middle of its arguments. */
  readonly isCut: boolean;
}

/** End of an answer, as far as its server has declared it. */
export class AnswerEnd {
  #reason: string | undefined;
  #stopSequence: string | undefined;
  #refusal = '';
  #isInChunk = false;
  #contentChunks = 0;
  #isReasonOnFirst = false;
  #isReasonRepeated = false;
  #isCounted = false;

  get hasReason(): boolean {
    return this.#reason !== undefined;
  }

  /** True once the server has declared the answer complete: by a reason, or by counts behind all content. */
  get isDeclared(): boolean {
    return this.hasReason || this.#isCounted;
  }

  /** True if content has followed a reason, which then stands on every chunk and does not end it. */
  get isReasonRepeated(): boolean {
    return this.#isReasonRepeated;
  }

  /** Silence after the reason in which `[DONE]` and the usage usually arrive; undefined if it may not be the end. */
  get settlesInMs(): number | undefined {
    if (!this.hasReason || this.#isReasonRepeated) return undefined;
    return this.#isReasonOnFirst ? longerMs : usualMs;
  }

  get hasRefusal(): boolean {
    return this.#refusal !== '';
  }

  beginChunk(): void {
    this.#isInChunk = false;
  }

  /** Records that a chunk has content. */
  content(): void {
    this.#isReasonRepeated ||= this.hasReason;
    this.#isCounted = false;
    if (!this.#isInChunk) this.#contentChunks += 1;
    this.#isInChunk = true;
  }

  /** Records counts; those on a chunk with content do not indicate its end. */
  counted(): void {
    this.#isCounted = !this.#isInChunk;
  }

  /** Keeps a piece of a refusal, which is written whole at the end. */
  refuse(text: string): void {
    this.#refusal += text;
    if (this.#refusal.length > maxRefusalLength) throw malformed('a refusal that is too long');
  }

  /** Reads the reason of a choice, of which the last one counts. Throws for one that reports a failed server. */
  readReason({ finish_reason: reason, stop_reason: named, matched_stop: matched }: Fields): void {
    const kind = finishKind(reason);
    if (kind === undefined) return;
    if (kind === 'failed') throw streamError({ message: `Its answer ended with "${String(reason)}".` });
    this.#reason = String(reason);
    this.#isReasonOnFirst = this.#isInChunk && this.#contentChunks === 1;
    const sequence = [named, matched].find((each) => typeof each === 'string');
    this.#stopSequence = typeof sequence === 'string' ? sequence : undefined;
  }

  /** `delta` of `message_delta`; `isEmpty`: there is no content. */
  delta(isEmpty: boolean, calls: EndedCalls) {
    const hasNothing = isEmpty && !this.hasRefusal && !this.hasReason;
    const reason = hasNothing ? null : this.#stopReason(calls);
    const details = { type: 'refusal', category: null, explanation: this.#refusal };
    return {
      stop_reason: reason,
      stop_sequence: reason === 'stop_sequence' ? (this.#stopSequence ?? null) : null,
      ...(this.hasRefusal && { stop_details: details }),
    };
  }

  /**
   * Stop reason of Messages. An answer with tool calls waits for their results, regardless of the server's reason.
   */
  #stopReason({ hasAny, isCut }: EndedCalls): StopReason {
    const kind = finishKind(this.#reason);
    if (this.hasRefusal || kind === 'refused') return 'refusal';
    if (isCut || kind === 'cut') return 'max_tokens';
    if (hasAny) return 'tool_use';
    return this.#stopSequence === undefined ? 'end_turn' : 'stop_sequence';
  }
}

const usualMs = 2000;

/** A server that sends a reason on every chunk may be slow after the first one. */
const longerMs = 6000;

const maxRefusalLength = 1024 * 1024;

/** Error for an answer whose server has reported neither its end nor its counts. */
export function undeclaredEnd(): GatewayError {
  const message =
    'The upstream ended its answer with neither a finish reason nor usage, so it may be truncated; if its server never sends a reason, set finishReason: optional in the slot.';
  return new GatewayError('upstream_invalid_response', message, { failure: { kind: 'interrupted' } });
}
