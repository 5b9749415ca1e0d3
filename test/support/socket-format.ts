/** A format as its author would write it, which is served over WebSocket too and counts its messages there. */
export const parrot = `
import { foldMessage, Type } from '@gw2api/gateway/plugin';
import { defineFormat, sseData } from '@gw2api/gateway/plugin/format';

export default defineFormat({
  name: 'parrot',
  routes: [{ method: 'POST', path: '/parrot', operation: 'generate', websocket: true }],
  body: Type.Object({ say: Type.String() }),
  decode({ say }, { connection }) {
    if (connection) connection.kept = (connection.kept ?? 0) + 1;
    const content = say + ' ' + (connection ? connection.kept : 'alone');
    const request = { model: 'sonnet-5', max_tokens: 99, messages: [{ role: 'user', content }] };
    return { request, stream: connection !== undefined, dropped: [] };
  },
  encoder: () => ({
    whole: async ({ events }) => foldMessage(events),
    stream: async function* ({ events }) {
      const { content } = await foldMessage(events);
      yield sseData(JSON.stringify({ type: 'error', said: content[0].text }));
      yield sseData('[DONE]');
    },
  }),
  error: ({ code }) => ({ fault: code }),
});
`;

/** A stage that never lets a handshake through. */
export const hanging = `
import { definePlugin } from '@gw2api/gateway/plugin';

export default definePlugin({
  name: 'hanging',
  operations: ['route'],
  setup: () => () => new Promise(() => undefined),
});
`;
