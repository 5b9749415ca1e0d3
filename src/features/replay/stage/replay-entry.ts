import { definePlugin } from '../../../plugin/index.js';
import { enteringRequest } from '../entry.js';

/** Puts a recorded Messages request in the place of what the stages above have made of a stand-in. */
export default definePlugin({
  name: 'replay-entry',
  requires: ['request'],
  provides: ['request'],
  setup() {
    return async function replayEntry({ state }, next) {
      const recorded = enteringRequest();
      if (recorded) {
        state.request = recorded;
        state.trace.ask(recorded.model);
      }
      await next();
    };
  },
});
