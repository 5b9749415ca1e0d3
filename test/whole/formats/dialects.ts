import type { FormatName } from '../../support/formats.js';
import { foldChat, wholeChat } from '../../plugins/formats/grammar/chat.js';
import { foldCompletions } from '../../plugins/formats/grammar/completions.js';
import { foldMessages } from '../../plugins/formats/grammar/messages.js';
import { checkResponses } from '../../plugins/formats/grammar/responses.js';

/** How a caller of one format asks, and what it makes of the answer. */
export interface Dialect {
  readonly path: string;
  /** A request whose only user message is `prompt`. */
  readonly request: (prompt: string) => object;
  /** Checks a complete stream against the format's grammar and folds it into what the whole answer must be. */
  readonly fold: (text: string) => unknown;
  /** A whole answer in the form that `fold` gives. */
  readonly whole: (body: unknown) => unknown;
}

const model = 'sonnet-5';

const asItIs = (body: unknown): unknown => body;

export const dialects: Readonly<Record<FormatName, Dialect>> = {
  messages: {
    path: '/v1/messages',
    request: (prompt) => ({ model, max_tokens: 1000, messages: [{ role: 'user', content: prompt }] }),
    fold: foldMessages,
    whole: asItIs,
  },
  chat: {
    path: '/v1/chat/completions',
    request: (prompt) => ({
      model,
      messages: [{ role: 'user', content: prompt }],
      stream_options: { include_usage: true },
    }),
    fold: (text) => foldChat(text, { usage: true }),
    whole: wholeChat,
  },
  responses: {
    path: '/v1/responses',
    request: (prompt) => ({
      model,
      input: prompt,
      store: false,
      include: ['reasoning.encrypted_content'],
    }),
    fold: checkResponses,
    whole: asItIs,
  },
  completions: {
    path: '/v1/completions',
    request: (prompt) => ({ model, prompt, stream_options: { include_usage: true } }),
    fold: (text) => foldCompletions(text, { usage: true }),
    whole: asItIs,
  },
};

export const formatNames = ['messages', 'chat', 'responses', 'completions'] as const;

/** The text of an answer without what differs from one request to the next: a response's id, and the time. */
export function timeless(text: string): string {
  return text
    .replaceAll(/resp_[0-9a-f]{32}|(?<=(?:msg|rs|fc|ctc|ws)_)[0-9a-f]{32}(?=_\d)/g, 'id')
    .replaceAll(/"(created|created_at|completed_at)":\d+/g, '"$1":0');
}

/** The same of a value. */
export function timelessValue(value: unknown): unknown {
  return JSON.parse(timeless(JSON.stringify(value)));
}
