import type { Extension } from '../../gateway/gateway.js';

/** WebSockets beside HTTP, at the paths of formats that have them. */
export const webSockets: Extension<void> = {
  name: 'websockets',
  starts: ({ listen }, { dry, isCheck = false }) => listen.webSockets !== false && !dry && !isCheck,
  open: async (gateway) => (await import('./web-sockets.js')).openWebSockets(gateway),
};
