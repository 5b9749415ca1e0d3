import { definePlugin, mapEvents } from '@gw2api/gateway/plugin';

/** Reads how an answer ends, and leaves it as it is: what is measured is where the stage runs, not what it does. */
export default definePlugin({
  name: 'reading',
  api: 1,
  requires: ['request'],
  intercepts: true,
  setup: () => ({
    async intercept(request, call) {
      const reply = await call(request);
      return { ...reply, events: mapEvents(reply.events, { message_delta: (event) => event }) };
    },
  }),
});
