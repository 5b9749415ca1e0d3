import { expect } from 'chai';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { masterKey, startGateway, type GatewayUnderTest } from '../../harness.js';

const input = '{"id":12345678901234567890,"f":1.0}';

/** Answers of each kind of upstream with one tool call. */
const answers: Readonly<Record<string, readonly object[]>> = {
  '/v1/messages': [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'call_2', name: 'look', input: {} },
    },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: input } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ],
  '/v1/chat/completions': [
    {
      choices: [
        {
          index: 0,
          delta: {
            tool_calls: [
              { index: 0, id: 'call_2', type: 'function', function: { name: 'look', arguments: input } },
            ],
          },
        },
      ],
    },
    { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
  ],
  '/v1/responses': [
    { type: 'response.created', response: { id: 'resp_1' } },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { type: 'function_call', id: 'fc_1', call_id: 'call_2', name: 'look', arguments: input },
    },
    { type: 'response.completed', response: {} },
  ],
};

/** Body of each format with a call in its history, as the text that a client sends. */
const requests: Readonly<Record<string, string>> = {
  '/v1/messages': `{"model":"KIND","max_tokens":50,"tools":[{"name":"look","input_schema":{"type":"object"}}],"messages":[
    {"role":"user","content":"Look."},
    {"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"look","input":${input}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"seen"}]}]}`,
  '/v1/chat/completions': JSON.stringify({
    model: 'KIND',
    messages: [
      { role: 'user', content: 'Look.' },
      {
        role: 'assistant',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: input } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
    ],
    tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
  }),
  '/v1/responses': JSON.stringify({
    model: 'KIND',
    store: false,
    input: [
      { role: 'user', content: 'Look.' },
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: input },
      { type: 'function_call_output', call_id: 'call_1', output: 'seen' },
    ],
    tools: [{ type: 'function', name: 'look', parameters: { type: 'object' } }],
  }),
};

/** Model that the upstream of each kind serves. */
const models = { messages: 'sonnet-5', chat: 'sonnet-5-5', responses: 'haiku-5' } as const;

describe('numbers in the arguments of tools', () => {
  let server: Server;
  let gateway: GatewayUnderTest;
  let sent = '';

  before(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
      request.on('end', () => {
        sent = body;
        const events = answers[String(request.url).split('?')[0]!] ?? [];
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const account = { kind: 'bearer', token: 'k' };
    gateway = await startGateway({
      slots: [
        { id: 'a', upstream: 'messages', baseUrl: url, account, models: ['sonnet-5'] },
        { id: 'b', upstream: 'chat', baseUrl: `${url}/v1`, account, models: ['sonnet-5-5'] },
        { id: 'c', upstream: 'responses', baseUrl: `${url}/v1`, account, models: ['haiku-5'] },
      ],
    });
  });
  after(async () => {
    await gateway.close();
    server.close();
  });

  for (const path of Object.keys(requests))
    for (const kind of ['messages', 'chat', 'responses'] as const)
      it(`keep their bytes from ${path} to a ${kind} upstream, and back`, async () => {
        const response = await fetch(gateway.url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': masterKey },
          body: requests[path]!.replace('KIND', models[kind]),
        });
        const answer = await response.text();
        expect(response.status, answer).to.equal(200);
        const inJson = (text: string) => [text, JSON.stringify(text).slice(1, -1)];
        expect(sent).to.satisfy((body: string) => inJson(input).some((text) => body.includes(text)));
        expect(answer).to.satisfy((body: string) => inJson(input).some((text) => body.includes(text)));
        expect(response.headers.get('content-type')).to.equal('application/json; charset=utf-8');
      });
});
