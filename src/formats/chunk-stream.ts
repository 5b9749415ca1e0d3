import type { GatewayError, MessagesResponse, ModelEvent, Usage } from '../plugin/index.js';
import type { Ending } from './answer.js';
import { completionId } from './completion-id.js';
import type { EventReader, StreamWriter } from './relay.js';
import { sseData, sseDone } from './sse.js';
import { chatUsage } from './usage.js';

/** What the caller asked that all chunks of a stream share. */
export interface ChunkRequest {
  /** As the caller named it. */
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
  #head = '';
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

  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }

  finish(): string {
    if (!this.#request.includeUsage) return sseDone;
    return `${sseData(`${this.#head}],"usage":${JSON.stringify(chatUsage(this.#usages))}}`)}${sseDone}`;
  }

  abstract fail(error: GatewayError): string;

  /** The first answer to begin gives all chunks their id. */
  start(message: MessagesResponse): void {
    if (this.#head !== '') return;
    const { created, model } = this.#request;
    const prefix = this.#kind === 'text_completion' ? 'cmpl' : 'chatcmpl';
    const envelope = { id: completionId(prefix, message), object: this.#kind, created, model };
    this.#head = `${JSON.stringify(envelope).slice(0, -1)},"choices":[`;
  }

  end({ usage }: Ending): void {
    this.#usages.push(usage);
  }

  /** Writes a chunk with one choice, given as JSON. */
  protected write(choice: string): void {
    this.#text += `data: ${this.#head}${choice}${this.#tail}\n\n`; // JSON has no line ends
  }
}
