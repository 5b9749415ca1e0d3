import type { MessagesResponse } from '@gw2api/gateway/plugin';
import type { BinaryString } from '@gw2api/gateway/plugin/raw';
import type { Ending } from '../shared/answer/answer.js';
import type { FinishReason } from '../shared/answer/completion.js';
import type { UrlCitation } from '../shared/tools/web-search.js';

export interface FunctionDelta {
  readonly name?: string;
  readonly arguments: string;
}

export interface ToolCallDelta {
  readonly index: number;
  readonly id?: string;
  readonly type?: 'function' | 'custom';
  readonly function?: FunctionDelta;
  readonly custom?: { readonly name?: string; readonly input: string };
  /** Gemini's signature of the thinking before the call, which its server demands back. */
  readonly extra_content?: { readonly google: { readonly thought_signature: string } };
}

/** Thinking block in a form that the caller can send back. */
export type ReasoningDetail =
  | { readonly type: 'reasoning.text'; readonly text: string; readonly signature: string }
  | { readonly type: 'reasoning.encrypted'; readonly data: string };

/** `index` counts the details, for clients that merge lists by it. */
export type IndexedDetail = ReasoningDetail & { readonly index: number };

export interface Annotation {
  readonly type: 'url_citation';
  readonly url_citation: UrlCitation;
}

/** `choices[].delta` of a chunk. */
export interface ChatDelta {
  readonly role?: 'assistant';
  readonly content?: string;
  readonly refusal?: string;
  readonly reasoning_content?: string;
  readonly reasoning_details?: readonly IndexedDetail[];
  readonly tool_calls?: readonly ToolCallDelta[];
  readonly function_call?: FunctionDelta;
  readonly annotations?: readonly Annotation[];
}

export type ChatFinish = FinishReason | 'function_call';

/** Sink of deltas: a stream of chunks, or one message. */
export interface ChatSink {
  start(message: MessagesResponse): void;
  delta(choice: number, delta: ChatDelta, finish: ChatFinish | null): void;
  /**
   * Delta with `content` alone, the common case; `json`: the content as a JSON string, if known; `logprobs`: of its
   * tokens.
   */
  text(choice: number, content: string, json?: BinaryString, logprobs?: readonly unknown[]): void;
  end(ending: Ending): void;
}
