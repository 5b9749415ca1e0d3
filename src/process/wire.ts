import type { Wire } from '../store/live/ipc-line.js';

interface Channel {
  readonly connected: boolean;
  send?(message: object, onSent: () => void): unknown;
  on(event: 'message' | 'disconnect', listener: (message: unknown) => void): unknown;
}

/** The channel between a primary and its worker, seen from either end. */
export function wireOf(channel: Channel): Wire {
  return {
    // Whether the other side has gone meanwhile is told by `onClose`, not by what could not be sent.
    send: (message) => void (channel.connected && channel.send?.(message as object, () => undefined)),
    onMessage: (listener) => {
      channel.on('message', (message) => {
        if (Array.isArray(message)) listener(message); // a plugin may have something of its own to say
      });
    },
    onClose: (listener) => void channel.on('disconnect', listener),
  };
}
