import type { CacheControl } from '@gw2api/gateway/plugin/upstream';

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly cache_control?: CacheControl;
}

/** Thinking in the form of Mistral. */
export interface ThinkingPart {
  readonly type: 'thinking';
  readonly thinking: readonly { readonly type: 'text'; readonly text: string }[];
  readonly signature?: string;
  readonly closed?: boolean;
}

/** Content part as a Chat server takes it. */
export type ChatPart =
  | TextPart
  | ThinkingPart
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string; readonly detail?: string } }
  | { readonly type: 'file'; readonly file: { readonly filename: string; readonly file_data: string } };

export type ChatContent = string | readonly ChatPart[];

export interface ChatToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
  /** Gemini: the thinking that led to the call. */
  readonly extra_content?: { readonly google: { readonly thought_signature: string } };
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: ChatContent | null;
  readonly name?: string;
  readonly reasoning_content?: string;
  readonly reasoning?: string;
  readonly reasoning_details?: readonly unknown[];
  readonly tool_calls?: readonly ChatToolCall[];
  /** Mistral: the message is to be continued. */
  readonly prefix?: true;
}

export interface ToolMessage {
  readonly role: 'tool';
  readonly tool_call_id: string;
  readonly content: ChatContent;
}

export type ChatMessage =
  | {
      readonly role: 'system' | 'developer' | 'user';
      readonly content: ChatContent;
      readonly name?: string;
    }
  | AssistantMessage
  | ToolMessage;

export interface ChatTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters: Readonly<Record<string, unknown>>;
    readonly strict?: boolean;
  };
  readonly cache_control?: CacheControl;
}

/** Body of a Chat Completions request, as far as it is written here. */
export interface ChatBody {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream: true;
  readonly tools?: readonly ChatTool[];
  readonly [field: string]: unknown;
}
