import type { Template } from './template.js';

/** An upstream that answers in lines of JSON, with a simulated service for the test. */
export const upstream: Template = {
  plugin: `
import { ModelEvent, Type«, type ModelEventBatch» } from '@gw2api/gateway/plugin';
import { defineUpstream, interruptedError, refusal } from '@gw2api/gateway/plugin/upstream';

/** Calls a service that answers with newline-delimited JSON. */
export default defineUpstream({
  name: '__NAME__',
  api: 1,
  needs: ['baseUrl'],
  options: Type.Object({
    effort: Type.Enum(['low', 'high'], { default: 'low', description: 'How much the model thinks.' }),
  }),
  open: ({ effort }, { http }) => ({
    async generate(call) {
      const { model, messages } = call.request;
      const body = JSON.stringify({ model, messages, effort });
      const answer = await http.send({ path: '/chat', body }, call);
      if (answer.status !== 200) throw refusal(answer, await answer.text());
      const { status, headers } = answer;
      return { status, headers, events: answer.decode((reads) => events(reads, model)) };
    },
  }),
});

/** Messages events, a batch for each read; a line is {"text"}, the last one has "done" and "tokens". */
async function* events(reads«: AsyncIterable<readonly string[]>», model«: string»)«: AsyncGenerator<ModelEventBatch>» {
  const message = { id: 'msg_1', type: 'message'« as const», role: 'assistant'« as const», model, content: [], stop_reason: null, stop_sequence: null };
  yield [
    ModelEvent.of({ type: 'message_start', message: { ...message, usage: { input_tokens: 0, output_tokens: 0 } } }),
    ModelEvent.of({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  ];
  let tokens«: number | undefined»;
  for await (const lines of reads) {
    const batch = [];
    for (const line of lines.filter(Boolean)) {
      const { text = '', done = false, ...rest } = JSON.parse(line);
      batch.push(ModelEvent.of({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }));
      if (done) tokens = rest.tokens ?? 0;
    }
    yield batch;
  }
  if (tokens === undefined) throw interruptedError();
  yield [
    ModelEvent.of({ type: 'content_block_stop', index: 0 }),
    ModelEvent.of({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: tokens },
    }),
    ModelEvent.of({ type: 'message_stop' }),
  ];
}
`,
  test: `
import { once } from 'node:events';
import { createServer«, type Server, type ServerResponse» } from 'node:http';
import { afterEach, describe, it } from 'mocha';
import { upstreamChecks } from '@gw2api/gateway/testing';
import kind from '__MODULE__';

const line = (fields«: object») => \`\${JSON.stringify(fields)}\\n\`;

/** Writes until nobody reads, when the kernel's buffers are full. */
async function pour(response«: ServerResponse», blocked«: () => void») {
  response.setMaxListeners(0);
  while (!response.destroyed) {
    if (response.write(line({ text: 'x'.repeat(50_000) }))) continue;
    const wait = setTimeout(blocked, 500);
    await Promise.race([once(response, 'drain'), once(response, 'close')]);
    clearTimeout(wait);
  }
}

const scenarios = {
  answer: (response«: ServerResponse») => response.end(line({ text: 'Hel' }) + line({ text: 'lo', done: true, tokens: 2 })),
  refusal: (response«: ServerResponse») => response.writeHead(429, { 'retry-after': '7' }).end(line({ error: 'Slow down.' })),
  cut: (response«: ServerResponse») => response.write(line({ text: 'Hel' }), () => response.destroy()),
  endless: pour,
};

describe('__NAME__', () => {
  const servers«: Server[]» = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  async function play(scenario«: keyof typeof scenarios») {
    let isBlocked = () => {};
    let isClosed = () => {};
    const blocked = new Promise«<void>»((resolve) => (isBlocked = resolve));
    const closed = new Promise«<void>»((resolve) => (isClosed = resolve));
    const server = createServer((request, response) => {
      request.resume();
      response.once('close', isClosed);
      void scenarios[scenario](response, isBlocked);
    });
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address()« as { port: number }»;
    return { baseUrl: \`http://127.0.0.1:\${port}\`, blocked, closed };
  }

  for (const { name, run } of upstreamChecks({ kind, play })) it(name, run).timeout(20_000);
});
`,
};
