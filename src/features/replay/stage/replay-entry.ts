import { definePlugin } from '../../../plugin/index.js';
import { enteringRequest } from '../entry.js';

/** Replaces the result of the stages above for a stand-in by the recorded Messages request. */
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
