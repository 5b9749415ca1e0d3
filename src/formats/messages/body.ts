import { Type } from '../../plugin/index.js';

/** Fields of a Messages body that the gateway itself reads; the upstream validates the rest. */
export const messagesBody = Type.Object({
  model: Type.String({ minLength: 1 }),
  messages: Type.Array(Type.Unknown()),
});
