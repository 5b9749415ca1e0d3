import { randomUUID } from 'node:crypto';
import { isCutInput } from '@gw2api/gateway/plugin/upstream';
import { JsonEnd } from './json-end.js';
import type { CallDelta } from './call-delta.js';

/** One tool call while it arrives. */
export class ToolCall {
  readonly id: string;
  readonly hasOwnId: boolean;
  readonly index: number | undefined;
  name: string;
  /** Signature of the thinking before it; empty: none. */
  thought: string;
  #json = new JsonEnd();
  #text = '';
  /** Arguments that have not been written yet. */
  #held = '';
  #isWritten = false;

  /** `isTaken`: another call has this id. */
  constructor({ id, index, name, thought }: CallDelta, isTaken: boolean) {
    this.id = id === '' || isTaken ? madeId() : id;
    this.hasOwnId = id !== '';
    this.index = index;
    this.name = name;
    this.thought = thought;
  }

  /** True once all brackets of its arguments are closed. */
  get isComplete(): boolean {
    return this.#json.isComplete;
  }

  /** True if its arguments are `{}` so far, which servers send before the real ones. */
  get isPlaceholder(): boolean {
    return !this.#isWritten && this.#text.length < 100 && this.#text.trim() === '{}';
  }

  /** True if it has neither a name nor arguments. */
  get isNothing(): boolean {
    return this.name === '' && this.#text.trim() === '';
  }

  get isCut(): boolean {
    return isCutInput(this.#text);
  }

  /** Number of characters that have not been written yet. */
  get heldLength(): number {
    return this.#held.length;
  }

  /** True for a piece that cannot belong to it: a further object after its own, unless it repeats that. */
  isFollowedBy({ id, arguments: json }: CallDelta): boolean {
    if (!this.isComplete || this.isPlaceholder || !json.trimStart().startsWith('{')) return false;
    const isNewId = id !== '' && this.hasOwnId && id !== this.id;
    return isNewId || json !== this.#text;
  }

  /** Adds arguments; ignores a repetition of complete ones, and blanks behind them. */
  add(json: string): void {
    if (this.isComplete && (json.trim() === '' || json === this.#text)) return;
    if (this.isPlaceholder) {
      this.#text = '';
      this.#held = '';
      this.#json = new JsonEnd();
    }
    this.#text += json;
    this.#held += json;
    this.#json.add(json);
  }

  /** Arguments that have not been written yet. */
  take(): string {
    const piece = this.#held;
    this.#held = '';
    this.#isWritten ||= piece !== '';
    return piece;
  }
}

/** An id in the form of OpenAI's. */
function madeId(): string {
  return `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
}
