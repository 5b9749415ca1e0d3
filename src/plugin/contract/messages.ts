/**
 * The Messages wire format: the canonical form of every request and reply. Only the fields that the gateway reads are
 * typed; every object may carry others, and unknown block, delta and event types are passed on unchanged.
 */

export interface CacheControl {
  readonly type: 'ephemeral';
  readonly ttl?: '5m' | '1h';
}

interface Block {
  readonly cache_control?: CacheControl | null;
  readonly [field: string]: unknown;
}

export interface TextBlock extends Block {
  readonly type: 'text';
  readonly text: string;
  readonly citations?: readonly Citation[] | null;
}

export type Source =
  | { readonly type: 'base64'; readonly media_type: string; readonly data: string }
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'text'; readonly media_type: string; readonly data: string }
  | { readonly type: 'content'; readonly content: string | readonly ContentBlock[] }
  | { readonly type: 'file'; readonly file_id: string };

export interface ImageBlock extends Block {
  readonly type: 'image';
  readonly source: Source;
}

export interface DocumentBlock extends Block {
  readonly type: 'document';
  readonly source: Source;
  readonly title?: string | null;
  readonly context?: string | null;
  readonly citations?: CitationRequest | null;
}

export interface SearchResultBlock extends Block {
  readonly type: 'search_result';
  readonly title?: string | null;
  readonly source: string;
  readonly content: readonly TextBlock[];
  readonly citations?: CitationRequest | null;
}

/** Request for citations of a document or a search result. */
export interface CitationRequest {
  readonly enabled?: boolean | null;
}

export interface ThinkingBlock extends Block {
  readonly type: 'thinking';
  readonly thinking: string;
  readonly signature: string;
}

export interface RedactedThinkingBlock extends Block {
  readonly type: 'redacted_thinking';
  readonly data: string;
}

export interface ToolUseBlock extends Block {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface ToolResultBlock extends Block {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content?: string | readonly ContentBlock[];
  readonly is_error?: boolean;
}

export interface ServerToolUseBlock extends Block {
  readonly type: 'server_tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface WebSearchToolResultBlock extends Block {
  readonly type: 'web_search_tool_result';
  readonly tool_use_id: string;
  readonly content: unknown;
}

/** Known block types; others occur at run time and must be passed on. */
export type ContentBlock =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | SearchResultBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | ToolUseBlock
  | ToolResultBlock
  | ServerToolUseBlock
  | WebSearchToolResultBlock;

export interface Citation {
  readonly type: string;
  readonly cited_text?: string;
  readonly url?: string;
  readonly title?: string | null;
  readonly [field: string]: unknown;
}

export interface Message {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string | readonly ContentBlock[];
  readonly [field: string]: unknown;
}

/**
 * A client tool (`input_schema`, no `type` or `custom`) or a server tool (a dated `type`,
 * `web_search_20250305`).
 */
export interface Tool {
  readonly name: string;
  readonly type?: string;
  readonly description?: string;
  readonly input_schema?: Readonly<Record<string, unknown>>;
  /** Null: the caller leaves it to the receiver (Responses), whose default is not `false`. */
  readonly strict?: boolean | null;
  readonly cache_control?: CacheControl | null;
  readonly [field: string]: unknown;
}

export type ToolChoice =
  | { readonly type: 'auto' | 'any'; readonly disable_parallel_tool_use?: boolean }
  | { readonly type: 'tool'; readonly name: string; readonly disable_parallel_tool_use?: boolean }
  | { readonly type: 'none' };

export type Thinking =
  | { readonly type: 'enabled'; readonly budget_tokens: number; readonly [field: string]: unknown }
  | { readonly type: 'adaptive' | 'disabled'; readonly [field: string]: unknown };

export interface OutputConfig {
  readonly effort?: string;
  /** Form of the answer. Callers of other formats have `json_object` too, and name, strict and description. */
  readonly format?: {
    readonly type: 'json_schema' | 'json_object';
    readonly schema?: unknown;
    readonly name?: string | null;
    readonly strict?: boolean | null;
    readonly description?: string | null;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** `POST /v1/messages`. Other fields of a client stay in it and go upstream. */
export interface MessagesRequest {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly max_tokens?: number;
  readonly system?: string | readonly TextBlock[];
  readonly tools?: readonly Tool[];
  readonly tool_choice?: ToolChoice;
  readonly stream?: boolean;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly stop_sequences?: readonly string[];
  readonly metadata?: { readonly user_id?: string | null; readonly [field: string]: unknown };
  readonly thinking?: Thinking;
  readonly output_config?: OutputConfig;
  readonly cache_control?: CacheControl | null;
  readonly [field: string]: unknown;
}

/** Token counts as an upstream reports them; an omitted field is absent, an explicit zero is a zero. */
export interface Usage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cache_creation_input_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation?: {
    readonly ephemeral_5m_input_tokens?: number;
    readonly ephemeral_1h_input_tokens?: number;
  } | null;
  readonly output_tokens_details?: { readonly thinking_tokens?: number } | null;
  readonly [field: string]: unknown;
}

export type StopReason =
  | 'end_turn'
  | 'max_tokens'
  | 'stop_sequence'
  | 'tool_use'
  | 'pause_turn'
  | 'refusal'
  | 'model_context_window_exceeded'
  | (string & {});

/** Details of the stop reason; for a refusal, its explanation. */
export interface StopDetails {
  readonly type?: string;
  readonly explanation?: string | null;
  readonly [field: string]: unknown;
}

/** A whole answer: `POST /v1/messages` with `stream: false`. */
export interface MessagesResponse {
  readonly id: string;
  readonly type: 'message';
  readonly role: 'assistant';
  readonly model: string;
  readonly content: readonly ContentBlock[];
  readonly stop_reason: StopReason | null;
  readonly stop_sequence: string | null;
  readonly stop_details?: StopDetails | null;
  readonly usage: Usage;
  readonly [field: string]: unknown;
}

export interface MessageStartEvent {
  readonly type: 'message_start';
  readonly message: MessagesResponse;
}

export interface ContentBlockStartEvent {
  readonly type: 'content_block_start';
  readonly index: number;
  readonly content_block: ContentBlock;
}

/** `logprobs` of a text are those of Chat Completions, for callers of other formats that have requested them. */
export type Delta =
  | { readonly type: 'text_delta'; readonly text: string; readonly logprobs?: readonly unknown[] }
  | { readonly type: 'input_json_delta'; readonly partial_json: string }
  | { readonly type: 'thinking_delta'; readonly thinking: string }
  | { readonly type: 'signature_delta'; readonly signature: string }
  | { readonly type: 'citations_delta'; readonly citation: Citation }
  | { readonly type: 'compaction_delta'; readonly content: string | null };

export interface ContentBlockDeltaEvent {
  readonly type: 'content_block_delta';
  readonly index: number;
  readonly delta: Delta;
}

export interface ContentBlockStopEvent {
  readonly type: 'content_block_stop';
  readonly index: number;
}

export interface MessageDeltaEvent {
  readonly type: 'message_delta';
  readonly delta: {
    readonly stop_reason?: StopReason | null;
    readonly stop_sequence?: string | null;
    readonly stop_details?: StopDetails | null;
    readonly [field: string]: unknown;
  };
  readonly usage?: Usage;
  readonly [field: string]: unknown;
}

export interface MessageStopEvent {
  readonly type: 'message_stop';
}

export interface PingEvent {
  readonly type: 'ping';
}

export interface ErrorEvent {
  readonly type: 'error';
  readonly error: { readonly type: string; readonly message: string; readonly details?: unknown };
}

/** Known events; others occur at run time and must be passed on. */
export type MessagesStreamEvent =
  | MessageStartEvent
  | ContentBlockStartEvent
  | ContentBlockDeltaEvent
  | ContentBlockStopEvent
  | MessageDeltaEvent
  | MessageStopEvent
  | PingEvent
  | ErrorEvent;

/** Content block of a type: `BlockOf<'tool_use'>`. */
export type BlockOf<Type extends ContentBlock['type']> = Extract<ContentBlock, { readonly type: Type }>;

/** Event of a type: `EventOf<'message_delta'>`. */
export type EventOf<Type extends MessagesStreamEvent['type']> = Extract<
  MessagesStreamEvent,
  { readonly type: Type }
>;
