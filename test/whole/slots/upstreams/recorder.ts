import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Kit } from '../../../engine/transport/upstream-kit.js';

/** A request as a recorder got it. */
export interface Recorded {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** Starts a server that records requests and answers each with a short stream, or a count of 7 tokens. */
export async function startRecorder(
  kit: Kit,
): Promise<{ readonly url: string; readonly requests: Recorded[] }> {
  const requests: Recorded[] = [];
  const url = await kit.serve(async (request: IncomingMessage, response: ServerResponse) => {
    const { method, url: path, headers } = request;
    const sent = await text(request);
    requests.push({ method, url: path, headers, body: sent === '' ? undefined : JSON.parse(sent) });
    if (/count[-_]tokens/.test(path ?? '')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":7}');
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(stream);
  });
  return { url, requests };
}

const usage = { input_tokens: 3, output_tokens: 1 };
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage,
};

/** Events of a short answer. */
export const answerEvents: readonly { readonly type: string; readonly [field: string]: unknown }[] = [
  { type: 'message_start', message },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
  { type: 'message_stop' },
];

const stream = answerEvents
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join('');
