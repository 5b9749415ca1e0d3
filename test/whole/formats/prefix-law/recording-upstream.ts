import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { encodeFrame } from '#plugins/upstreams/bedrock/frames.js';
import { Kit } from '../../../engine/transport/upstream-kit.js';

export type Body = Readonly<Record<string, unknown>>;

/** Server of all kinds of upstreams, which keeps the last body of each slot, whose id begins the path. */
export class RecordingUpstream {
  readonly #kit = new Kit();
  readonly #bodies = new Map<string, Body>();
  #url = '';

  static async open(): Promise<RecordingUpstream> {
    const upstream = new RecordingUpstream();
    upstream.#url = await upstream.#kit.serve((request, response) => upstream.#answer(request, response));
    return upstream;
  }

  urlOf(slot: string): string {
    return `${this.#url}/${slot}/api`;
  }

  /** Takes the last body that a slot was sent. */
  take(slot: string): Body | undefined {
    const body = this.#bodies.get(slot);
    this.#bodies.delete(slot);
    return body;
  }

  close(): Promise<void> {
    return this.#kit.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const sent = await text(request);
    // Models are listed, and additions counted, at a time of the gateway's own.
    if (request.method === 'GET' || /count[-_]tokens/.test(path)) return void response.writeHead(404).end();
    this.#bodies.set(path.split('/')[1] ?? '', JSON.parse(sent) as Body);
    if (path.endsWith('invoke-with-response-stream')) {
      response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
      return void response.end(Buffer.concat(messagesEvents.map(frameOf)));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const events = /chat|responses/.exec(path.split('/').slice(2).join('/'))?.[0];
    const stream = events === 'chat' ? chatChunks : events === 'responses' ? responsesEvents : messagesEvents;
    response.end(`${stream.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`);
  }
}

const frameHeaders = {
  ':message-type': 'event',
  ':event-type': 'chunk',
  ':content-type': 'application/json',
};

function frameOf(event: object): Buffer {
  const bytes = Buffer.from(JSON.stringify(event)).toString('base64');
  return encodeFrame({ headers: frameHeaders, payload: Buffer.from(JSON.stringify({ bytes })) });
}

const usage = { input_tokens: 3, output_tokens: 1 };

const messagesEvents: readonly object[] = [
  {
    type: 'message_start',
    message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
  { type: 'message_stop' },
];

const chatChunks: readonly object[] = [
  { id: 'c', choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }] },
];

const message = { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: 'Hello' }] };

const responsesEvents: readonly object[] = [
  { type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } },
  { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hello' },
  { type: 'response.output_item.done', output_index: 0, item: message },
  { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [message] } },
];
