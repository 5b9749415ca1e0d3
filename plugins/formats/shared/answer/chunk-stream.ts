import type { GatewayError, MessagesResponse, ModelEvent, Usage } from '@gw2api/gateway/plugin';
import { sseData } from '@gw2api/gateway/plugin/format';
import { type BinaryString, toBinaryString } from '@gw2api/gateway/plugin/raw';
import type { Ending } from './answer.js';
import { completionId } from './completion.js';
import type { EventReader, StreamWriter } from './relay.js';
import { sseDone } from './sse.js';
import { chatUsage } from './reported-usage.js';

/** Request fields that all chunks of a stream share. */
export interface ChunkRequest {
  /** Model name that the caller sent. */
  readonly model: string;
  /** Unix seconds. */
  readonly created: number;
  /** Send `usage`: null on every chunk, and the counts on a last one without choices. */
  readonly includeUsage: boolean;
}

/** The chunks of Chat Completions and of Completions: one envelope around changing choices. */
export abstract class ChunkStream implements StreamWriter {
  protected abstract readonly answers: EventReader;
  readonly #request: ChunkRequest;
  readonly #kind: 'chat.completion.chunk' | 'text_completion';
  readonly #tail: string;
  readonly #usages: Usage[] = [];
  #head: BinaryString | undefined;
  /** By the index of the choice. */
  readonly #frames: Frame[] = [];
  /** Output since the last `take`, as a binary string. */
  #text = '';

  constructor(kind: 'chat.completion.chunk' | 'text_completion', request: ChunkRequest) {
    this.#kind = kind;
    this.#request = request;
    this.#tail = request.includeUsage ? '],"usage":null}' : ']}';
  }

  get isComplete(): boolean {
    return this.answers.isComplete;
  }

  add(event: ModelEvent): void {
    this.answers.add(event);
  }

  take(): Buffer {
    const text = this.#text;
    this.#text = '';
    return Buffer.from(text, 'latin1');
  }

  finish(): void {
    if (this.#request.includeUsage) {
      const usage = toBinaryString(JSON.stringify(chatUsage(this.#usages)));
      this.#text += sseData(`${this.#head}],"usage":${usage}}`);
    }
    this.#text += sseDone;
  }

  fail(error: GatewayError): void {
    this.#text += toBinaryString(this.errorText(error));
  }

  /** The dialect's error event. */
  protected abstract errorText(error: GatewayError): string;

  /** Starts the stream; the first answer to begin gives all chunks their id. */
  start(message: MessagesResponse): void {
    if (this.#head !== undefined) return;
    const { created, model } = this.#request;
    const prefix = this.#kind === 'text_completion' ? 'cmpl' : 'chatcmpl';
    const envelope = { id: completionId(prefix, message), object: this.#kind, created, model };
    this.#head = toBinaryString(`${JSON.stringify(envelope).slice(0, -1)},"choices":[`);
  }

  end({ usage }: Ending): void {
    this.#usages.push(usage);
  }

  /** Writes a chunk with one choice, given as JSON. */
  protected write(choice: BinaryString): void {
    this.#text += `data: ${this.#head}${choice}${this.#tail}\n\n`; // JSON has no line ends
  }

  /** Fast path for a chunk with only text: the JSON around it is built only once. */
  protected writeText(index: number, json: BinaryString): void {
    const [before, after] = (this.#frames[index] ??= this.#frameOf(index));
    this.#text += before + json + after;
  }

  /** JSON before and after the text, in a choice that has only text. */
  protected abstract readonly textFrame: readonly [before: string, after: string];

  #frameOf(index: number): Frame {
    const [before, after] = this.textFrame;
    const head = `data: ${this.#head}{"index":${index},${before}` as BinaryString; // a BinaryString and ASCII text
    return [head, toBinaryString(`${after}${this.#tail}\n\n`)];
  }
}

type Frame = readonly [before: BinaryString, after: BinaryString];
