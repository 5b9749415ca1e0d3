import { ModelEvent, type Usage } from '@gw2api/gateway/plugin';
import { interruptedError, isErrorBody, type SseTranslator } from '@gw2api/gateway/plugin/upstream';
import { Blocks } from '../../shared/answer/blocks.js';
import { estimate } from '../../shared/answer/counts.js';
import { AnswerEnd, undeclaredEnd } from './answer-end.js';
import { callDeltas, legacyDeltas, type CallDelta } from './call-delta.js';
import { citationsIn, firstChoice, isCutBeforeText, parseChunk, contentParts } from './chunk.js';
import { fieldsOf, textOf, type Fields } from '../../shared/fields.js';
import { Logprobs } from './logprobs.js';
import { LateText, type LatePart } from './late-text.js';
import type { ToolNames } from '../../shared/openai/tool-names.js';
import { streamError } from '../../shared/openai/openai-stream-error.js';
import { nativeEnd, nativeStart } from '../../shared/answer/native-answer.js';
import { ThinkTags } from './think-tags.js';
import { Thinking } from './thinking.js';
import { ToolCalls } from './tool-calls.js';
import { TokenCounts } from './token-counts.js';

/** Settings of an answer from its request. */
export interface ChatAnswerOptions {
  readonly model: string;
  /** Origin of its thinking, for the envelope. */
  readonly vendor: string;
  /** Names of the tools that it calls. */
  readonly names: ToolNames;
  /** Size of the request, from which its tokens are estimated until, or unless, the server counts them. */
  readonly requestBytes: number;
  /** True for a server that never sends a finish reason: its `[DONE]` is the end. */
  readonly isReasonOptional?: boolean;
  /** True for a server that leaves its thinking in the content, in tags. */
  readonly thinkTags?: boolean;
  /**
   * Called for a chunk that was cut before any text, after the first content, which is then left out once: an
   * error would cost the caller the rest of its stream. Absent: it is an error, so that the call can be made again.
   */
  readonly onLeftOut?: (() => void) | undefined;
  /** True if the request asks for log probabilities. */
  readonly hasLogprobs?: boolean;
}

/** Translator of one Chat Completions answer, in chunks or whole, into Messages events. Reads choice 0 alone. */
export class ChatAnswer implements SseTranslator {
  readonly #options: ChatAnswerOptions;
  readonly #blocks = new Blocks();
  readonly #calls: ToolCalls;
  readonly #thinking: Thinking;
  readonly #late = new LateText();
  readonly #counts = new TokenCounts();
  readonly #ending = new AnswerEnd();
  readonly #logprobs: Logprobs | undefined;
  readonly #tags: ThinkTags | undefined;
  /** Text of the chunk, or of the whole answer, that is being read. */
  #json = '';
  #isStarted = false;
  #isOver = false;
  #hasLeftOut = false;
  #hasText = false;

  constructor(options: ChatAnswerOptions) {
    this.#options = options;
    this.#logprobs = options.hasLogprobs ? new Logprobs() : undefined;
    this.#calls = new ToolCalls(this.#blocks, options.names);
    this.#thinking = new Thinking(this.#blocks, options.vendor);
    this.#tags = options.thinkTags ? new ThinkTags() : undefined;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get settlesInMs(): number | undefined {
    return this.#ending.settlesInMs;
  }

  read(data: string, name: string | undefined, events: ModelEvent[]): void {
    this.#blocks.events = events;
    if (data === '[DONE]') return this.#finishDone();
    if (name === 'error' && !/^\s*[{[]/.test(data)) return this.#fail(data); // some servers send a plain text
    const chunk = this.#parse(data);
    this.#json = data;
    if (chunk) this.#readChunk(chunk, name === 'error');
  }

  /** Ends an answer without `[DONE]`; throws if it had no finish reason either. */
  finish(events: ModelEvent[]): void {
    this.#blocks.events = events;
    if (!this.#ending.hasReason) throw interruptedError();
    this.#complete();
  }

  /** Reads a whole answer, as if it were one chunk. */
  readWhole(answer: Fields, events: ModelEvent[], json: string): void {
    this.#blocks.events = events;
    this.#json = json;
    this.#readChunk(answer, false);
    this.#complete();
  }

  /** Ends an answer at `[DONE]`, which does not prove that it is complete. */
  #finishDone(): void {
    const mayEnd = this.#ending.isDeclared || this.#options.isReasonOptional || !this.#hasContent;
    if (!mayEnd) throw undeclaredEnd();
    this.#complete();
  }

  get #hasContent(): boolean {
    return !this.#blocks.isEmpty || this.#hasText || this.#calls.count > 0 || this.#ending.hasRefusal;
  }

  /** A chunk; undefined for one that is left out. */
  #parse(data: string): Fields | undefined {
    try {
      return parseChunk(data);
    } catch (error) {
      const { onLeftOut } = this.#options;
      const mayLeaveOut = onLeftOut && !this.#hasLeftOut && !this.#blocks.isEmpty && this.#calls.count === 0;
      if (!mayLeaveOut || !isCutBeforeText(data)) throw error;
      this.#hasLeftOut = true;
      onLeftOut();
      return undefined;
    }
  }

  #readChunk(chunk: Fields, isError: boolean): void {
    const { error } = chunk;
    if (isError || isErrorBody(chunk)) this.#fail(error ?? chunk);
    const choice = firstChoice(chunk['choices']);
    this.#ending.beginChunk();
    if (choice) this.#readChoice(chunk, choice);
    const isCounted = this.#counts.read(chunk, choice ?? fieldsOf(undefined));
    if (isCounted) this.#ending.counted();
    const isLast = isCounted || (this.#counts.usage !== undefined && !this.#ending.isReasonRepeated);
    if (!choice && this.#ending.hasReason && isLast) this.#complete();
  }

  /** Ignores an error after the finish reason: the answer is complete. */
  #fail(error: unknown): void {
    if (!this.#ending.hasReason || this.#ending.isReasonRepeated) throw streamError(error);
  }

  #readChoice(chunk: Fields, choice: Fields): void {
    if (!this.#isStarted) this.#start(chunk);
    const delta = fieldsOf(choice['delta'] ?? this.#unread(fieldsOf(choice['message'])));
    this.#logprobs?.read(choice, delta);
    this.#readDelta(delta);
    this.#ending.readReason(choice);
  }

  /** Rest of a whole message beyond its deltas: some servers repeat it at the end. */
  #unread(message: Fields): Fields {
    if (!this.#hasContent) return message;
    const { content, refusal, tool_calls } = message;
    return {
      ...(!this.#hasText && { content }),
      ...(!this.#ending.hasRefusal && { refusal }),
      ...(this.#calls.count === 0 && { tool_calls }),
    };
  }

  #start(chunk: Fields): void {
    this.#isStarted = true;
    const { id, model } = chunk;
    const { requestBytes, model: asked } = this.#options;
    this.#blocks.events.push(nativeStart({ id: textOf(id), model: textOf(model) || asked, requestBytes }));
  }

  #readDelta(delta: Fields): void {
    const thinking = this.#thinking.textOf(delta);
    if (thinking !== '') this.#endTags();
    this.#think(thinking);
    const { content } = delta;
    if (typeof content !== 'string') this.#readParts(content);
    else if (delta['channel'] === 'analysis') this.#think(content);
    else this.#readText(content);
    const { refusal, annotations, tool_calls: calls, function_call: called } = delta;
    if (typeof refusal === 'string' && refusal !== '') this.#refuse(refusal);
    if (annotations !== undefined) this.#cite(annotations);
    if (calls !== undefined && calls !== null) this.#call(callDeltas(calls, this.#json));
    if (called !== undefined && called !== null) this.#call(legacyDeltas(called, this.#json));
  }

  #readParts(content: unknown): void {
    for (const { kind, text } of contentParts(content))
      if (kind === 'thinking') this.#think(text);
      else this.#readText(text);
  }

  /** Reads content, in which a server may have left its thinking. */
  #readText(text: string): void {
    if (text === '') return;
    this.#hasText = true;
    this.#ending.content();
    if (!this.#tags) this.#say(text);
    else for (const part of this.#tags.read(text)) this.#write(part);
  }

  /** Writes text that may have been a tag, and treats no later text as thinking. */
  #endTags(): void {
    for (const part of this.#tags?.end() ?? []) this.#write(part);
  }

  #write({ kind, text }: LatePart): void {
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
    this.#blocks.text(text, this.#logprobs?.take());
  }

  /** Opens a text block, unless one has been opened for late text. */
  #beginText(): void {
    if (this.#blocks.open === 'text') return;
    this.#thinking.close();
    this.#blocks.begin({ type: 'text', text: '' });
  }

  #think(text: string): void {
    if (text === '') return;
    this.#ending.content();
    if (!this.#calls.settle()) return this.#late.add('thinking', text);
    this.#writeLate();
    this.#thinking.add(text);
  }

  #writeLate(): void {
    for (const part of this.#late.take()) this.#write(part);
  }

  #refuse(text: string): void {
    this.#ending.content();
    this.#ending.refuse(text);
  }

  #call(calls: readonly CallDelta[]): void {
    if (calls.length === 0) return;
    this.#ending.content();
    this.#endTags();
    if (!this.#calls.isOpen) this.#thinking.close();
    this.#calls.add(calls);
  }

  #cite(annotations: unknown): void {
    if (this.#blocks.open !== 'text') return;
    for (const citation of citationsIn(annotations))
      this.#blocks.delta({ type: 'citations_delta', citation });
  }

  #complete(): void {
    if (this.#isOver) return;
    if (!this.#isStarted) throw interruptedError();
    this.#endTags();
    this.#calls.finish();
    this.#writeLate();
    this.#thinking.close();
    this.#blocks.end();
    const calls = { hasAny: this.#calls.count > 0, isCut: this.#calls.hasCut };
    const delta = this.#ending.delta(this.#blocks.isEmpty, calls);
    const usage = this.#counts.usage ?? this.#estimatedUsage();
    this.#blocks.events.push(nativeEnd(delta, usage), ModelEvent.of({ type: 'message_stop' }));
    this.#isOver = true;
  }

  /** Usage of a server that does not count: unknown, not zero. */
  #estimatedUsage(): Usage {
    const { requestBytes } = this.#options;
    return {
      input_tokens: estimate(requestBytes),
      output_tokens: estimate(this.#blocks.length),
      estimated: true,
    };
  }
}
