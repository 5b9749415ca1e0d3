/** An upstream from outside: newline-delimited JSON over `host.http`, its own errors; imports only the public modules. */
export const ndjsonUpstream = `
import { ModelEvent } from '@gw2api/gateway/plugin';
import { defineUpstream, interruptedError, refusal } from '@gw2api/gateway/plugin/upstream';

export default defineUpstream({
  name: 'lines',
  needs: ['baseUrl'],
  options: { type: 'object', properties: { greeting: { type: 'string', default: '' } } },
  open: ({ greeting }, { http }) => ({
    async generate(call) {
      const { model, messages } = call.request;
      const body = JSON.stringify({ model, messages });
      const answer = await http.send({ path: '/api/chat', headers: { accept: 'application/x-ndjson' }, body }, call);
      if (answer.status !== 200) throw refusal(answer, await answer.text(65_536));
      const { status, headers } = answer;
      return { status, headers, events: answer.decode((lines) => eventsOf(lines, model, greeting)) };
    },
  }),
});

async function* eventsOf(reads, model, greeting) {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], stop_reason: null,
    stop_sequence: null, usage: { input_tokens: 1, output_tokens: 0 } };
  yield [
    ModelEvent.of({ type: 'message_start', message }),
    ModelEvent.of({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...(greeting ? [delta(greeting)] : []),
  ];
  let isWhole = false;
  for await (const lines of reads) {
    const chunks = lines.filter(Boolean).map((line) => JSON.parse(line));
    if (chunks.length > 0) yield chunks.filter(({ done }) => !done).map(({ text }) => delta(text));
    const last = chunks.find(({ done }) => done);
    if (!last) continue;
    isWhole = true;
    yield [
      ModelEvent.of({ type: 'content_block_stop', index: 0 }),
      ModelEvent.of({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: last.tokens } }),
      ModelEvent.of({ type: 'message_stop' }),
    ];
  }
  if (!isWhole) throw interruptedError();
}

function delta(text) {
  return ModelEvent.of({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
}
`;

/** An account from outside: a token in a header of its own, which a refusal changes. */
export const tokenAccount = `
import { defineAccount } from '@gw2api/gateway/plugin/upstream';
export default defineAccount({
  name: 'token',
  options: { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] },
  check: ({ token }) => (token.startsWith('t-') ? [] : [{ path: ['token'], message: 'must begin with t-' }]),
  open({ token }) {
    let current = token;
    return {
      authorize: ({ method, path }) => ({ 'x-token': current + ' ' + method + ' ' + path }),
      async refresh() {
        if (current === token + '-new') return false;
        current = token + '-new';
        return true;
      },
    };
  },
});
`;
