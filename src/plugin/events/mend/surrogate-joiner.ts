import type { Delta, EventOf } from '../../contract/messages.js';
import type { ModelEvent } from '../events.js';

type DeltaEvent = EventOf<'content_block_delta'>;

/** Joins surrogate pairs that are split over two deltas: a first half waits for its second. */
export class SurrogateJoiner {
  readonly #emit: (json: DeltaEvent) => void;
  /** Waiting half, as a separate delta. */
  #held: { readonly json: DeltaEvent; readonly half: string } | undefined;

  constructor(emit: (json: DeltaEvent) => void) {
    this.#emit = emit;
  }

  get isHolding(): boolean {
    return this.#held !== undefined;
  }

  /** Takes a delta if it must be changed; false to pass it on unchanged. */
  add(event: ModelEvent, mayHaveHalf: boolean): boolean {
    if (!this.#held && !mayHaveHalf) return false;
    const { json } = event;
    const piece = json.type === 'content_block_delta' ? textIn(json.delta) : undefined;
    if (json.type !== 'content_block_delta' || piece === undefined) {
      this.flush();
      return false;
    }
    const before = this.#take(json);
    const text = before + piece;
    const half = endsInHalf(text) ? text.slice(-1) : '';
    if (before === '' && half === '') return false;
    if (half !== '') this.#held = { json, half };
    const ready = half === '' ? text : text.slice(0, -1);
    if (ready !== '') this.#emit(withText(json, ready));
    return true;
  }

  /** Passes on a half that nothing follows. */
  flush(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held) this.#emit(withText(held.json, held.half));
  }

  /** Half that this delta continues. */
  #take({ index, delta }: DeltaEvent): string {
    const held = this.#held;
    const isNext = held?.json.index === index && held.json.delta.type === delta.type;
    if (!isNext) this.flush();
    this.#held = undefined;
    return isNext ? held.half : '';
  }
}

function textIn(delta: Delta): string | undefined {
  if (delta.type === 'text_delta') return delta.text;
  if (delta.type === 'thinking_delta') return delta.thinking;
  return delta.type === 'input_json_delta' ? delta.partial_json : undefined;
}

function withText(json: DeltaEvent, text: string): DeltaEvent {
  const { delta } = json;
  if (delta.type === 'text_delta') return { ...json, delta: { ...delta, text } };
  if (delta.type === 'thinking_delta') return { ...json, delta: { ...delta, thinking: text } };
  return delta.type === 'input_json_delta' ? { ...json, delta: { ...delta, partial_json: text } } : json;
}

function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
