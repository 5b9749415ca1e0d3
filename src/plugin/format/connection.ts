/**
 * WebSocket connection of a request that came as a message, with the data that its format keeps for the next ones.
 */
export interface Connection {
  /** Value of the format, for the lifetime of the connection; undefined until it sets one. */
  kept: unknown;
}

/** Key of the connection on the socket of a request. */
export const connectionKey = Symbol.for('gw2api.connection');

/** WebSocket connection behind a socket; undefined for a socket that uses HTTP itself. */
export function connectionOf(socket: object | undefined): Connection | undefined {
  const { [connectionKey]: connection } = (socket ?? {}) as { readonly [connectionKey]?: Connection }; // of our sockets alone
  return connection;
}
