import type { ContentBlock, Delta, MessagesStreamEvent } from '../../contract/messages.js';
import { EventStream } from '../stream/event-stream.js';
import { ModelEvent, type ModelEventBatch, type ModelEvents } from '../events.js';
import type { Transform } from '../stream/stream-step.js';
import { searchedStart, textOfBlock } from './start-content.js';
import { TextWindow, type TextKind, type TextMap, type TextMatch } from './text-window.js';

/**
 * Replaces matches in the text of an answer, also those that lie across deltas. Takes linear time, holds back
 * `hold` characters and a quarter more, and gives the same text for any split into deltas.
 */
export function mapText(events: ModelEvents, map: TextMap): EventStream {
  const mapper = new TextMapper(map);
  // Without `isOver`: of an answer with several choices, the others go on where one has ended.
  return EventStream.from(events).through({
    transform: (batch) => mapper.transform(batch),
    flush: () => mapper.flush(),
    fail: () => mapper.fail(),
  });
}

interface OpenText {
  readonly window: TextWindow;
  readonly kind: TextKind;
  readonly index: number;
  readonly choice: number;
}

/** `mapText` as a transform of one answer, which is over once a match has ended it. */
export class TextMapper implements Transform {
  readonly #map: TextMap;
  readonly #kinds: ReadonlySet<TextKind>;
  /** Open blocks that have text, by choice and index. */
  readonly #open = new Map<string, OpenText>();
  readonly #endedChoices = new Set<number>();
  #out: ModelEvent[] = [];
  /** Length of the output text, an estimate of the tokens of an answer that ends early. */
  #length = 0;
  #hasSourceFailed = false;

  constructor(map: TextMap) {
    if (!Number.isInteger(map.hold) || map.hold < 1 || map.hold > maxHold)
      throw new RangeError(`hold: must be an integer from 1 to ${maxHold}.`);
    this.#map = map;
    this.#kinds = new Set(map.kinds ?? ['text']);
  }

  get isOver(): boolean {
    return this.#endedChoices.size > 0;
  }

  transform(batch: ModelEventBatch): ModelEventBatch | undefined {
    try {
      for (const event of batch) this.#add(event);
      return this.#take();
    } catch (error) {
      throw this.#dropped(error);
    }
  }

  flush(): ModelEventBatch | undefined {
    try {
      for (const open of this.#open.values()) this.#close(open);
      return this.#take();
    } catch (error) {
      throw this.#dropped(error);
    }
  }

  /** Returns the held text, searched; nothing after an error of its own map. */
  fail(): ModelEventBatch | undefined {
    this.#hasSourceFailed = true;
    return this.flush();
  }

  #add(event: ModelEvent): void {
    if (event.type === 'content_block_delta') this.#extend(event);
    else if (event.type === 'content_block_start') this.#start(event);
    else if (event.type === 'message_start') this.#begin(event);
    else this.#pass(event, closing.has(event.type));
  }

  /** Error of the map, after which the output stops: later text may be the rest of a match. */
  #dropped(error: unknown): unknown {
    this.#open.clear();
    this.#out = [];
    return error;
  }

  #take(): ModelEventBatch | undefined {
    const out = this.#out;
    this.#out = [];
    return out.length > 0 ? out : undefined;
  }

  /** Opens a block; searches an initial text like its deltas. */
  #start(event: ModelEvent): void {
    const { json, choice } = event;
    const first = json.type === 'content_block_start' ? textOfBlock(json.content_block) : undefined;
    if (json.type !== 'content_block_start' || !first || !this.#kinds.has(first.kind))
      return this.#pass(event);
    this.#emit({ ...json, content_block: emptied(json.content_block) }, choice);
    this.#write(json.index, choice, first.kind, first.text);
  }

  /** Searches the initial content of a message, for upstreams that send it there. */
  #begin(event: ModelEvent): void {
    const { json, choice } = event;
    if (json.type !== 'message_start' || json.message.content.length === 0) return this.#pass(event);
    const { event: start, length, end } = searchedStart(json, this.#map, this.#kinds);
    this.#length += length;
    this.#emit(start, choice);
    if (end) this.#finish(end, choice);
  }

  #extend(event: ModelEvent): void {
    if (event.delta) {
      if (!this.#kinds.has('text')) return this.#pass(event);
      return this.#write(event.delta.index, event.choice, 'text', event.delta.text);
    }
    const { json, choice } = event;
    const piece = json.type === 'content_block_delta' ? textIn(json.delta) : undefined;
    if (json.type !== 'content_block_delta' || !piece || !this.#kinds.has(piece.kind))
      return this.#pass(event, json.type === 'content_block_delta' && json.delta.type === 'signature_delta');
    this.#write(json.index, choice, piece.kind, piece.text);
  }

  /** Passes an event on; one that closes blocks after their held text. */
  #pass(event: ModelEvent, isClosing = false): void {
    if (isClosing) {
      const { json, choice } = event;
      const index = 'index' in json ? json.index : undefined;
      for (const open of this.#open.values())
        if (open.choice === choice && (index === undefined || open.index === index)) this.#close(open);
    }
    if (!this.#endedChoices.has(event.choice)) this.#out.push(event);
  }

  #write(index: number, choice: number, kind: TextKind, piece: string): void {
    if (this.#endedChoices.has(choice)) return;
    const key = `${choice} ${index}`;
    let open = this.#open.get(key);
    if (open?.kind !== kind) {
      this.#makeRoom();
      open = { window: new TextWindow(this.#map, kind), kind, index, choice };
      this.#open.set(key, open);
    }
    this.#say(open, open.window.write(piece));
  }

  /** Ends the oldest text of an upstream that opens blocks without closing any. */
  #makeRoom(): void {
    const [oldest] = this.#open.values();
    if (oldest && this.#open.size >= maxOpen) this.#close(oldest);
  }

  #close(open: OpenText): void {
    this.#open.delete(`${open.choice} ${open.index}`);
    this.#say(open, open.window.flush());
  }

  #say({ window, kind, index, choice }: OpenText, text: string): void {
    if (this.#endedChoices.has(choice)) return;
    this.#length += text.length;
    if (text !== '') this.#emit({ type: 'content_block_delta', index, delta: deltaOf[kind](text) }, choice);
    if (window.end) this.#end(window.end, index, choice);
  }

  /** Ends the answer of a choice as a model would, unless an error follows. */
  #end(delta: NonNullable<TextMatch['ends']>, index: number, choice: number): void {
    if (this.#hasSourceFailed) return void this.#endedChoices.add(choice);
    this.#emit({ type: 'content_block_stop', index }, choice);
    this.#finish(delta, choice);
  }

  #finish(delta: NonNullable<TextMatch['ends']>, choice: number): void {
    const usage = { output_tokens: Math.max(1, Math.ceil(this.#length / 4)) };
    this.#emit({ type: 'message_delta', delta: { stop_sequence: null, ...delta }, usage }, choice);
    this.#emit({ type: 'message_stop' }, choice);
    this.#endedChoices.add(choice);
  }

  #emit(json: MessagesStreamEvent, choice: number): void {
    if (!this.#endedChoices.has(choice)) this.#out.push(ModelEvent.of(json, choice));
  }
}

const maxHold = 65_536;
const maxOpen = 1000;

/** Events before which the text of their blocks is complete. */
const closing: ReadonlySet<string> = new Set([
  'content_block_stop',
  'message_delta',
  'message_stop',
  'error',
]);

interface Piece {
  readonly kind: TextKind;
  readonly text: string;
}

function textIn(delta: Delta): Piece | undefined {
  if (delta.type === 'text_delta') return { kind: 'text', text: delta.text };
  if (delta.type === 'thinking_delta') return { kind: 'thinking', text: delta.thinking };
  return delta.type === 'input_json_delta' ? { kind: 'input', text: delta.partial_json } : undefined;
}

const deltaOf: Readonly<Record<TextKind, (text: string) => Delta>> = {
  text: (text) => ({ type: 'text_delta', text }),
  thinking: (thinking) => ({ type: 'thinking_delta', thinking }),
  input: (partial_json) => ({ type: 'input_json_delta', partial_json }),
};

/** A starting block whose text arrives in deltas. */
function emptied(block: ContentBlock): ContentBlock {
  if (block.type === 'text') return { ...block, text: '' };
  return block.type === 'thinking' ? { ...block, thinking: '' } : { ...block, input: {} };
}
