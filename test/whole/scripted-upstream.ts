import type { IncomingMessage, ServerResponse } from 'node:http';
import { Kit, sse } from '../engine/transport/upstream-kit.js';

/** The parts of an answer as they stand on the wire. */
export interface Parts {
  readonly start: string;
  readonly thinking: (text: string) => string;
  readonly text: (text: string) => string;
  readonly delta: (text: string) => string;
  readonly end: string;
  readonly stop: string;
}

export interface ScriptedUpstream {
  readonly url: string;
  close(): Promise<void>;
}

/** An upstream that does what no scenario of the simulator does: `serve` answers each request once its body was read. */
export async function scripted(
  serve: (request: IncomingMessage, response: ServerResponse, parts: Parts, body: string) => unknown,
): Promise<ScriptedUpstream> {
  const kit = new Kit();
  const url = await kit.serve(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    await serve(request, response, parts, Buffer.concat(chunks).toString());
  });
  return { url, close: () => kit.close() };
}

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'sonnet-5',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 100, output_tokens: 1 },
};

/** Not a type of the SDK: tests send what no upstream should. */
function event(fields: { readonly type: string } & Readonly<Record<string, unknown>>): string {
  return sse(fields);
}

function block(content_block: object, deltas: readonly object[]): string {
  const index = 0;
  return [
    event({ type: 'content_block_start', index, content_block }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ].join('');
}

const parts: Parts = {
  start: event({ type: 'message_start', message }),
  thinking: (thinking) =>
    block({ type: 'thinking', thinking: '', signature: '' }, [
      { type: 'thinking_delta', thinking },
      { type: 'signature_delta', signature: 'c2lnbmVk' },
    ]),
  text: (text) => block({ type: 'text', text: '' }, [{ type: 'text_delta', text }]),
  delta: (text) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  end: event({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 5 },
  }),
  stop: event({ type: 'message_stop' }),
};
