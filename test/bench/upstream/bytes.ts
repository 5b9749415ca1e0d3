import type { Script } from './scripts.js';

/** An answer as it goes over the wire: HTTP head, server-sent events, each in a chunk of its own. */
export interface AnswerBytes {
  /** The head, and the events before the first delta. */
  readonly start: string;
  readonly delta: (text: string) => string;
  readonly ping: string;
  /** The events after the last delta, and the end of the body. */
  readonly end: string;
}

/** The bytes of a script's stream. */
export function streamBytes({ deltas, cachedTokens }: Script): AnswerBytes {
  const usage = usageOf(cachedTokens);
  const open = [
    event('message_start', { message: { ...message, content: [], stop_reason: null, usage } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  ];
  const close = [
    event('content_block_stop', { index: 0 }),
    event('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: deltas },
    }),
    event('message_stop', {}),
  ];
  return {
    start: head('content-type: text/event-stream\r\ntransfer-encoding: chunked') + open.map(chunk).join(''),
    delta: (text) => chunk(event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
    ping: chunk(event('ping', {})),
    end: `${close.map(chunk).join('')}0\r\n\r\n`,
  };
}

/** The bytes of a script's Chat stream. */
export function chatStreamBytes(script: Script): AnswerBytes {
  const ending = [chatChunk({}, 'stop'), data({ ...completion, choices: [], usage: chatUsage(script) })];
  return {
    start:
      head('content-type: text/event-stream\r\ntransfer-encoding: chunked') +
      chunk(chatChunk({ role: 'assistant', content: '' })),
    delta: (text) => chunk(chatChunk({ content: text })),
    ping: chunk(': PROCESSING\n\n'),
    end: `${[...ending, 'data: [DONE]\n\n'].map(chunk).join('')}0\r\n\r\n`,
  };
}

/** A stream with all of its deltas. */
export function burstBytes(script: Script, bytes = streamBytes): Buffer {
  const { deltas, delta, isEndless = false } = script;
  const { start, delta: bytesOf, end } = bytes(script);
  const middle = Array.from({ length: deltas }, (_, at) => bytesOf(delta(at)));
  return Buffer.from(start + middle.join('') + (isEndless ? '' : end));
}

/** The same answer as one JSON body. */
export function wholeBytes({ deltas, delta }: Script): Buffer {
  const text = Array.from({ length: deltas }, (_, at) => delta(at)).join('');
  return jsonBytes({
    ...message,
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    usage: { ...usageOf(), output_tokens: deltas },
  });
}

export function jsonBytes(value: object): Buffer {
  const body = JSON.stringify(value);
  const length = Buffer.byteLength(body);
  return Buffer.from(head(`content-type: application/json\r\ncontent-length: ${length}`) + body);
}

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'scripted', stop_sequence: null };

const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_790_000_000,
  model: 'scripted',
  system_fingerprint: 'fp_1',
};

function usageOf(cachedTokens = 0): object {
  const written = Math.ceil(cachedTokens / 36);
  return {
    input_tokens: 100,
    output_tokens: 1,
    cache_read_input_tokens: cachedTokens,
    cache_creation_input_tokens: written,
    ...(written > 0 && {
      cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
    }),
  };
}

function chatUsage({ deltas, cachedTokens = 0 }: Script): object {
  const prompt = 100 + cachedTokens;
  return {
    prompt_tokens: prompt,
    completion_tokens: deltas,
    total_tokens: prompt + deltas,
    ...(cachedTokens > 0 && { prompt_tokens_details: { cached_tokens: cachedTokens } }),
  };
}

function chatChunk(delta: object, finish: string | null = null): string {
  return data({
    ...completion,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    usage: null,
  });
}

function data(fields: object): string {
  return `data: ${JSON.stringify(fields)}\n\n`;
}

function head(fields: string): string {
  return `HTTP/1.1 200 OK\r\n${fields}\r\n\r\n`;
}

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
