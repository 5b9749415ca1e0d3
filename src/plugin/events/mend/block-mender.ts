import { GatewayError } from '../../contract/error.js';
import type { ContentBlock, Delta, EventOf, MessagesStreamEvent } from '../../contract/messages.js';
import { ModelEvent } from '../events.js';
import { SurrogateJoiner } from './surrogate-joiner.js';

type Emit = (event: ModelEvent) => void;

/**
 * Mends the blocks of a stream: deltas before their block, several blocks of one index, and surrogate pairs that are
 * split over deltas. Faults are seen as a block starts, so that the deltas of a valid stream pass unread.
 */
export class BlockMender {
  readonly #emit: Emit;
  readonly #joiner: SurrogateJoiner;
  mayHaveHalves = false;
  hasToolUse = false;
  /** Length of the inspected texts. */
  textLength = 0;
  #next = 0;
  #open = 0;
  /** Index of the block that was made for deltas without one. */
  #made: number | undefined;
  /** Replacements for indices that the service has used twice. */
  readonly #renumbered = new Map<number, number>();
  /** Arguments that arrived before their block. */
  #early: EventOf<'content_block_delta'>[] = [];
  #earlyLength = 0;

  constructor(emit: Emit) {
    this.#emit = emit;
    this.#joiner = new SurrogateJoiner((json) => emit(ModelEvent.of(json)));
  }

  get passesDeltas(): boolean {
    return this.#open > 0 && this.#renumbered.size === 0 && !this.mayHaveHalves && !this.#joiner.isHolding;
  }

  /** Forgets the blocks of an answer that restarts. */
  restart(): void {
    this.hasToolUse = false;
    this.#next = 0;
    this.#open = 0;
    this.#renumbered.clear();
  }

  start(event: ModelEvent): void {
    this.#joiner.flush();
    const head = headOf(event);
    if (!head) return this.#emit(event);
    const { index, type } = head;
    if (this.#made === index) return;
    this.hasToolUse ||= type === 'tool_use';
    if (index < this.#next) this.#renumber(index);
    else this.#next = index + 1;
    this.#open += 1;
    this.#emit(this.#placed(event));
    this.#emitEarly();
  }

  delta(event: ModelEvent): void {
    const { json } = event;
    if (json.type !== 'content_block_delta') return this.#emit(event);
    if (this.#open === 0 && !this.#makeBlock(json)) return;
    const placed = this.#placed(event);
    this.textLength += textLength(json.delta);
    if (!this.#joiner.add(placed, this.mayHaveHalves)) this.#emit(placed);
  }

  stop(event: ModelEvent): void {
    this.#joiner.flush();
    this.#open = Math.max(0, this.#open - 1);
    this.#made = undefined;
    this.#emit(this.#placed(event));
  }

  /** Ends the held block, before an event of no block. */
  flush(): void {
    this.#joiner.flush();
    if (this.#made !== undefined) this.#end(this.#made);
    if (this.#early.length > 0) throw invalid('arguments of a tool call whose name is missing');
  }

  #renumber(index: number): void {
    if (this.#open > 0) this.#end(index);
    this.#renumbered.set(index, this.#next);
    this.#next += 1;
  }

  #end(index: number): void {
    this.#open = Math.max(0, this.#open - 1);
    this.#made = undefined;
    this.#emit(ModelEvent.of({ type: 'content_block_stop', index: this.#placeOf(index) }));
  }

  #placeOf(index: number): number {
    return this.#renumbered.get(index) ?? index;
  }

  /** The event under the index of its block. */
  #placed(event: ModelEvent): ModelEvent {
    if (this.#renumbered.size === 0) return event;
    const { json } = event;
    const index = 'index' in json && typeof json.index === 'number' ? json.index : undefined;
    const place = index === undefined ? undefined : this.#renumbered.get(index);
    return place === undefined ? event : ModelEvent.of({ ...json, index: place } as MessagesStreamEvent); // as it was
  }

  /**
   * Makes the block of a delta that arrived before it; false for arguments, which wait for the name of their tool.
   */
  #makeBlock(json: EventOf<'content_block_delta'>): boolean {
    const block = blockFor(json.delta);
    if (!block) {
      this.#earlyLength += JSON.stringify(json).length;
      if (this.#earlyLength > maxEarlyLength)
        throw invalid('overlong arguments of a tool call whose name is missing');
      this.#early.push(json);
      return false;
    }
    const { index } = json;
    if (index < this.#next) this.#renumber(index);
    else this.#next = index + 1;
    this.#open += 1;
    this.#made = index;
    this.#emit(
      ModelEvent.of({ type: 'content_block_start', index: this.#placeOf(index), content_block: block }),
    );
    return true;
  }

  #emitEarly(): void {
    const early = this.#early;
    this.#early = [];
    for (const json of early) this.delta(ModelEvent.of(json));
  }
}

const maxEarlyLength = 16 * 1024 * 1024;

/** Block that deltas of this type belong to; undefined if they cannot start one. */
function blockFor({ type }: Delta): ContentBlock | undefined {
  if (type === 'text_delta' || type === 'citations_delta') return { type: 'text', text: '' };
  if (type === 'thinking_delta' || type === 'signature_delta')
    return { type: 'thinking', thinking: '', signature: '' };
  return undefined;
}

function textLength(delta: Delta): number {
  if (delta.type === 'text_delta') return delta.text.length;
  if (delta.type === 'thinking_delta') return delta.thinking.length;
  return delta.type === 'input_json_delta' ? delta.partial_json.length : 0;
}

interface BlockHead {
  readonly index: number;
  readonly type: string;
}

/** Index and type of a block, by the usual beginning of its event, else by its JSON; undefined if that is invalid. */
function headOf(event: ModelEvent): BlockHead | undefined {
  const [found, index, type = ''] = usual.exec(event.data) ?? [];
  if (found !== undefined) return { index: Number(index), type };
  try {
    const { json } = event;
    return json.type === 'content_block_start'
      ? { index: json.index, type: json.content_block.type }
      : undefined;
  } catch {
    return undefined; // its reader refuses it
  }
}

const usual = /^\{"type":"content_block_start","index":(\d{1,9}),"content_block":\{"type":"(\w+)"/;

function invalid(what: string): GatewayError {
  const message = `The upstream sent ${what}.`;
  return new GatewayError('upstream_invalid_response', message, { failure: { kind: 'interrupted' } });
}
