import type { RpcPort } from './ipc/rpc-channel.js';

interface Channel {
  readonly connected: boolean;
  send?(message: object, onSent: () => void): unknown;
  on(event: 'message' | 'disconnect' | 'exit', listener: (message: unknown) => void): unknown;
}

/** Message port to the primary, seen from a worker. */
export function portToPrimary(channel: Channel): RpcPort {
  return {
    // Send errors are ignored: `onClose` reports that the other side has exited.
    send: (message) => void (channel.connected && channel.send?.(message as object, () => undefined)),
    onMessage: (listener) => {
      channel.on('message', (message) => {
        if (Array.isArray(message)) listener(message); // messages of plugins are ignored
      });
    },
    onClose: (listener) => void channel.on('disconnect', listener),
  };
}

/**
 * Message port to a worker, seen from the primary. Closed at `exit` too: Node emits no `disconnect` for a
 * worker that was killed in the middle of a message.
 */
export function portToWorker(worker: Channel): RpcPort {
  const wire = portToPrimary(worker);
  return {
    ...wire,
    onClose: (listener) => {
      wire.onClose(listener);
      worker.on('exit', listener);
    },
  };
}
