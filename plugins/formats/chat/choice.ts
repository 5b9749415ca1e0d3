import type { BlockOf, MessagesResponse } from '@gw2api/gateway/plugin';
import { reasoningEnvelope } from '@gw2api/gateway/plugin/format';
import type { Annotation, ChatDelta, ChatSink, ReasoningDetail, ToolCallDelta } from './delta.js';
import type { AnswerWriter, Ending, PartTable } from '../shared/answer/answer.js';
import type { Block, Part } from '../shared/answer/block.js';
import { CallIds } from '../shared/tools/call-ids.js';
import type { ChunkRequest } from '../shared/answer/chunk-stream.js';
import { finishReason } from '../shared/answer/completion.js';
import { type CallerTools, callerTool, customInput } from '../shared/tools/tools.js';
import { type UrlCitation, urlCitations } from '../shared/tools/web-search.js';

/** Request fields that shape the answer. */
export interface ChatRequest extends ChunkRequest {
  /** Number of choices. */
  readonly n: number;
  /** True for a caller that supports `function_call`, but not `tool_calls`. */
  readonly isLegacy: boolean;
  readonly tools: CallerTools;
  /** Custom tools whose calls go out as functions, with the text as it is in `arguments`. */
  readonly textFunctions?: ReadonlySet<string>;
  /** Ids of the calls in the history. */
  readonly calledIds?: readonly string[];
}

interface Call extends Pick<ToolCallDelta, 'extra_content'> {
  readonly index: number;
  readonly id: string;
  readonly name: string;
}

/** One answer as the deltas of one choice. */
export class ChatChoice implements AnswerWriter {
  readonly #index: number;
  readonly #request: ChatRequest;
  readonly #sink: ChatSink;
  #length = 0;
  #calls = 0;
  #details = 0;
  readonly #citations: UrlCitation[] = [];
  #ids: CallIds | undefined;
  /** Signature of the call that follows. */
  #thought: string | undefined;

  constructor(index: number, request: ChatRequest, sink: ChatSink) {
    this.#index = index;
    this.#request = request;
    this.#sink = sink;
  }

  start(message: MessagesResponse): void {
    this.#sink.start(message);
    this.delta({ role: 'assistant', content: '' });
  }

  /** All annotations go in one delta: the clients' libraries cannot add to a list without indices. */
  end(ending: Ending): void {
    if (this.#citations.length > 0) this.delta({ annotations: this.#citations.map(annotation) });
    if (ending.refusal !== undefined) this.delta({ refusal: ending.refusal });
    const reason = ending.isOwnRefusal ? 'stop' : finishReason(ending.stopReason);
    const isLegacyCall = reason === 'tool_calls' && this.#request.isLegacy;
    this.#sink.delta(this.#index, {}, isLegacyCall ? 'function_call' : reason);
    this.#sink.end(ending);
  }

  delta(delta: ChatDelta): void {
    this.#sink.delta(this.#index, delta, null);
  }

  text(block: Block): Part {
    const start = this.#length;
    return {
      write: (content, json, logprobs) => {
        this.#length += content.length;
        this.#sink.text(this.#index, content, json, logprobs);
      },
      close: () => {
        for (const citation of urlCitations(block.citations, start, this.#length))
          this.#citations.push(citation);
      },
    };
  }

  reasoningDetail(detail: ReasoningDetail): void {
    this.delta({ reasoning_details: [{ ...detail, index: this.#details }] });
    this.#details += 1;
  }

  /** Ends a thinking block: a signature of Gemini is part of the next call, any other a detail of its own. */
  thought({ text, signature }: Block<BlockOf<'thinking'>>): void {
    const ofCall = text === '' ? reasoningEnvelope.thoughtIn(signature) : undefined;
    if (ofCall === undefined) this.reasoningDetail({ type: 'reasoning.text', text, signature });
    else this.#thought = ofCall;
  }

  /** Opens a tool call. A legacy caller gets only the first one, as `function_call` has room for one. */
  tool(block: Block<BlockOf<'tool_use'>>): Part | undefined {
    const index = this.#calls;
    this.#calls += 1;
    const { kind, name } = callerTool(this.#request.tools, block.start.name);
    const id = this.#uniqueId(block.start.id);
    if (this.#request.isLegacy) return index === 0 ? this.#functionCall(name) : undefined;
    const call = { index, name, id, ...this.#takeThought() };
    if (kind !== 'custom') return this.#toolCall(call);
    return this.#request.textFunctions?.has(name)
      ? this.#textCall(call, block)
      : this.#customCall(call, block);
  }

  #takeThought(): Pick<ToolCallDelta, 'extra_content'> {
    const thought = this.#thought;
    this.#thought = undefined;
    return thought === undefined ? {} : { extra_content: { google: { thought_signature: thought } } };
  }

  /** Makes a call id unique: clients find calls by id, but some upstreams reuse ids across answers. */
  #uniqueId(id: string): string {
    this.#ids ??= new CallIds(this.#request.calledIds);
    return this.#ids.unique(id);
  }

  #functionCall(name: string): Part {
    this.delta({ function_call: { name, arguments: '' } });
    return { write: (json) => this.delta({ function_call: { arguments: json } }) };
  }

  #toolCall({ index, name, id, ...extra }: Call): Required<Pick<Part, 'write'>> {
    this.delta({
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' }, ...extra }],
    });
    return { write: (json) => this.delta({ tool_calls: [{ index, function: { arguments: json } }] }) };
  }

  #textCall(call: Call, block: Block<BlockOf<'tool_use'>>): Part {
    const part = this.#toolCall(call);
    return { close: () => part.write(customInput(block.text)) };
  }

  #customCall({ index, name, id, ...extra }: Call, block: Block<BlockOf<'tool_use'>>): Part {
    this.delta({ tool_calls: [{ index, id, type: 'custom', custom: { name, input: '' }, ...extra }] });
    return {
      close: () => this.delta({ tool_calls: [{ index, custom: { input: customInput(block.text) } }] }),
    };
  }
}

/** Blocks of an answer that a choice shows; server tools stay invisible. */
export const chatParts: PartTable<ChatChoice> = {
  text: (block, choice) => choice.text(block),
  thinking: (block, choice) => ({
    write: (text) => choice.delta({ reasoning_content: text }),
    close: () => choice.thought(block),
  }),
  redacted_thinking: ({ start }, choice) => ({
    close: () => choice.reasoningDetail({ type: 'reasoning.encrypted', data: start.data }),
  }),
  tool_use: (block, choice) => choice.tool(block),
};

function annotation(citation: UrlCitation): Annotation {
  return { type: 'url_citation', url_citation: citation };
}
