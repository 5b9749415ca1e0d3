import { ModelEvent, type Usage } from 'gw2api/plugin';
import { interruptedError, isErrorBody, type SseTranslator } from 'gw2api/plugin/upstream';
import { Blocks } from '../../shared/blocks.js';
import { estimate } from '../../shared/estimate.js';
import { citationsIn } from './citations.js';
import { contentParts } from './content-parts.js';
import { fieldsOf, listOf, textOf, type Fields } from '../../shared/fields.js';
import { LateText } from './late-text.js';
import { malformed } from '../../shared/malformed.js';
import type { ToolNames } from '../../shared/tool-names.js';
import { failedReasons, stopReason } from './stop-reason.js';
import { streamError } from '../../shared/openai-stream-error.js';
import { Thinking } from './thinking.js';
import { ToolCalls } from './tool-calls.js';
import { TokenCounts } from './usage.js';

/** Settings of an answer that come from its request. */
export interface ChatAnswerOptions {
  readonly model: string;
  /** Origin of its thinking, for the envelope. */
  readonly vendor: string;
  /** Names of the tools that it calls. */
  readonly names: ToolNames;
  /** Size of the request, from which its tokens are estimated until, or unless, the server counts them. */
  readonly requestBytes: number;
  /**
   * Called for bad JSON after the first content, which is then left out once: an error would cost the caller the
   * rest of its stream. Absent: it is an error, so that the call can be made again.
   */
  readonly onLeftOut?: (() => void) | undefined;
}

/** Translator of one Chat Completions answer, in chunks or whole, into Messages events. Reads choice 0 alone. */
export class ChatAnswer implements SseTranslator {
  readonly #options: ChatAnswerOptions;
  readonly #blocks = new Blocks();
  readonly #calls: ToolCalls;
  readonly #thinking: Thinking;
  readonly #late = new LateText();
  readonly #counts = new TokenCounts();
  #isStarted = false;
  #isOver = false;
  #hasLeftOut = false;
  #finishReason: string | undefined;
  #stopSequence: string | undefined;
  #refusal = '';

  constructor(options: ChatAnswerOptions) {
    this.#options = options;
    this.#calls = new ToolCalls(this.#blocks, options.names);
    this.#thinking = new Thinking(this.#blocks, options.vendor);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get settlesInMs(): number | undefined {
    return this.#finishReason === undefined ? undefined : settlesInMs;
  }

  read(data: string, name: string | undefined, events: ModelEvent[]): void {
    this.#blocks.events = events;
    if (data === '[DONE]') return this.#complete();
    if (name === 'error' && !/^\s*[{[]/.test(data)) return this.#fail(data); // some servers send a plain text
    const chunk = this.#parse(data);
    if (chunk) this.#readChunk(chunk, name === 'error');
  }

  /** Ends an answer without `[DONE]`; throws if it had no finish reason either. */
  finish(events: ModelEvent[]): void {
    this.#blocks.events = events;
    if (this.#finishReason === undefined) throw interruptedError();
    this.#complete();
  }

  /** Reads a whole answer, as if it were one chunk. */
  readWhole(answer: Fields, events: ModelEvent[]): void {
    this.#blocks.events = events;
    this.#readChunk(answer, false);
    this.#complete();
  }

  /** A chunk; undefined for one that is left out, which may have no part of a tool call. */
  #parse(data: string): Fields | undefined {
    try {
      return parse(data);
    } catch (error) {
      const { onLeftOut } = this.#options;
      if (!onLeftOut || this.#hasLeftOut || this.#blocks.isEmpty || this.#calls.count > 0) throw error;
      this.#hasLeftOut = true;
      onLeftOut();
      return undefined;
    }
  }

  #readChunk(chunk: Fields, isError: boolean): void {
    const { error } = chunk;
    if (isError || isErrorBody(chunk)) this.#fail(error ?? chunk);
    const choice = firstChoice(chunk['choices']);
    this.#counts.read(chunk, choice ?? fieldsOf(undefined));
    if (choice) this.#readChoice(chunk, choice);
    else if (this.#finishReason !== undefined && this.#counts.usage) this.#complete();
  }

  /** An error after the finish reason changes nothing: the answer is whole. */
  #fail(error: unknown): void {
    if (this.#finishReason === undefined) throw streamError(error);
  }

  #readChoice(chunk: Fields, choice: Fields): void {
    if (!this.#isStarted) this.#start(chunk);
    const delta = choice['delta'] ?? choice['message'];
    if (typeof delta === 'object' && delta !== null) this.#readDelta(delta as Fields); // any object may be read by name
    const reason = choice['finish_reason'];
    if (typeof reason !== 'string' || reason === '' || this.#finishReason !== undefined) return;
    if (failedReasons.has(reason)) throw streamError({ message: `Its answer ended with "${reason}".` });
    this.#finishReason = reason;
    const sequence = choice['stop_reason'];
    if (typeof sequence === 'string') this.#stopSequence = sequence;
  }

  #start({ id, model }: Fields): void {
    this.#isStarted = true;
    const usage = { input_tokens: estimate(this.#options.requestBytes), output_tokens: 0 };
    const message = {
      id: messageId(textOf(id)),
      type: 'message' as const,
      role: 'assistant' as const,
      model: textOf(model) || this.#options.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    };
    this.#blocks.events.push(ModelEvent.of({ type: 'message_start', message }));
  }

  #readDelta(delta: Fields): void {
    this.#think(this.#thinking.textOf(delta));
    const { content } = delta;
    if (typeof content !== 'string') this.#readParts(content);
    else if (delta['channel'] === 'analysis') this.#think(content);
    else this.#say(content);
    const { refusal, annotations, tool_calls: calls, function_call: called } = delta;
    if (typeof refusal === 'string') this.#refuse(refusal);
    if (annotations !== undefined) this.#cite(annotations);
    if (calls !== undefined) for (const call of listOf(calls)) this.#call(call);
    if (typeof called === 'object' && called !== null) this.#call({ index: 0, function: called });
  }

  #readParts(content: unknown): void {
    for (const { kind, text } of contentParts(content))
      if (kind === 'thinking') this.#think(text);
      else this.#say(text);
  }

  #say(text: string): void {
    if (text === '') return;
    if (this.#blocks.open !== 'text') {
      if (!this.#calls.settle()) return this.#late.add('text', text);
      this.#writeLate();
      this.#beginText();
    }
    this.#blocks.text(text);
  }

  /** Opens a text block, unless one has been opened for late text. */
  #beginText(): void {
    if (this.#blocks.open === 'text') return;
    this.#thinking.close();
    this.#blocks.begin({ type: 'text', text: '' });
  }

  #think(text: string): void {
    if (text === '') return;
    if (!this.#calls.settle()) return this.#late.add('thinking', text);
    this.#writeLate();
    this.#thinking.add(text);
  }

  #writeLate(): void {
    for (const { kind, text } of this.#late.take())
      if (kind === 'thinking') this.#think(text);
      else this.#say(text);
  }

  /** Keeps a piece of a refusal, which is said whole at the end. */
  #refuse(text: string): void {
    this.#refusal += text;
    if (this.#refusal.length > maxRefusalLength) throw malformed('too long a refusal');
  }

  #call(call: unknown): void {
    if (this.#calls.settle()) this.#thinking.close();
    this.#calls.add(call);
  }

  #cite(annotations: unknown): void {
    if (this.#blocks.open !== 'text') return;
    for (const citation of citationsIn(annotations))
      this.#blocks.delta({ type: 'citations_delta', citation });
  }

  #complete(): void {
    if (this.#isOver) return;
    if (!this.#isStarted) throw interruptedError();
    this.#calls.finish();
    this.#writeLate();
    this.#thinking.close();
    this.#blocks.end();
    this.#end();
    this.#isOver = true;
  }

  #end(): void {
    const isEmpty = this.#blocks.isEmpty && this.#refusal === '';
    const hasReason = this.#finishReason !== undefined || !isEmpty;
    const finish = {
      finishReason: this.#finishReason,
      hasCalls: this.#calls.count > 0,
      isCut: this.#calls.hasCut,
      stopSequence: this.#stopSequence,
      refusal: this.#refusal,
    };
    const details = { type: 'refusal', explanation: this.#refusal, finish_reason: this.#finishReason };
    const delta = {
      stop_reason: hasReason ? stopReason(finish) : null,
      stop_sequence: this.#stopSequence ?? null,
      ...(this.#refusal !== '' && { stop_details: details }),
    };
    this.#blocks.events.push(
      ModelEvent.of({ type: 'message_delta', delta, usage: this.#counts.usage ?? this.#estimatedUsage() }),
      ModelEvent.of({ type: 'message_stop' }),
    );
  }

  /** Usage of a server that does not count: unknown is not zero. */
  #estimatedUsage(): Usage {
    const { requestBytes } = this.#options;
    return {
      input_tokens: estimate(requestBytes),
      output_tokens: estimate(this.#blocks.length),
      estimated: true,
    };
  }
}

/** Silence after the finish reason in which `[DONE]` and the usage usually come. */
const settlesInMs = 2000;

const maxRefusalLength = 1024 * 1024;

function parse(data: string): Fields {
  try {
    const chunk: unknown = JSON.parse(data);
    if (typeof chunk === 'object' && chunk !== null) return chunk as Fields; // any object may be read by name
  } catch (cause) {
    throw malformed('a chunk that is no JSON', cause);
  }
  throw malformed('a chunk that is no JSON object');
}

/** Choice 0; undefined in chunks without choices, and in those of further ones. */
function firstChoice(choices: unknown): Fields | undefined {
  if (!Array.isArray(choices)) return undefined;
  for (const choice of choices) {
    const fields = fieldsOf(choice);
    const { index = 0 } = fields;
    if (index === 0) return fields;
  }
  return undefined;
}

/** Id of the message: that of the completion, in the form of Messages. */
function messageId(id: string): string {
  const known = id.replace(/^(?:chatcmpl-|msg_)/, '').slice(0, 200);
  return `msg_${known || crypto.randomUUID().replaceAll('-', '')}`;
}
