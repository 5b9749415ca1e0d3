import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The cheapest Messages upstream there can be: a prepared answer of `DELTAS` text deltas, each its own write, all at once.
 * A process of its own, so that its CPU time is not the gateway's.
 */
const deltas = Number(process.env['DELTAS'] ?? 64);

const frame = (type: string, fields: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  stop_reason: null,
};
const usage = {
  input_tokens: 100,
  output_tokens: 1,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

const frames = [
  frame('message_start', { message: { ...message, stop_sequence: null, usage } }),
  frame('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  ...Array.from({ length: deltas }, (_, at) =>
    frame('content_block_delta', {
      index: 0,
      delta: { type: 'text_delta', text: ` word ${at} of the answer` },
    }),
  ),
  frame('content_block_stop', { index: 0 }),
  frame('message_delta', {
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: deltas },
  }),
  frame('message_stop', {}),
];

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    if (request.url?.includes('count_tokens')) {
      response.setHeader('content-type', 'application/json');
      response.end('{"input_tokens":10}');
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const text of frames) response.write(text);
    response.end();
  });
});

server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
