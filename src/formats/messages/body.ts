import { Type } from '../../plugin/index.js';

/** What the gateway itself reads of a Messages body; the rest is for the upstream to judge. */
export const messagesBody = Type.Object({
  model: Type.String({ minLength: 1 }),
  messages: Type.Array(Type.Unknown()),
});
