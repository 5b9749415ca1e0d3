import type { ChildProcess } from 'node:child_process';

/** Message by which the cluster module passes a connection to a worker. */
interface ClusterMessage {
  readonly act?: string;
  readonly seq?: number;
}

interface Handle {
  close(): void;
}

/**
 * Closes connections that were on their way to a worker when it died. The cluster module holds each of them
 * until the worker acknowledges it, so without this their callers would wait without end.
 */
export function closePendingConnections(worker: ChildProcess): void {
  const inTransit = new Map<number, Handle>();
  let hasExited = false;
  const send = worker.send.bind(worker) as (...args: readonly unknown[]) => boolean; // called with the arguments of node:cluster
  worker.send = (...args: readonly unknown[]) => {
    const [{ act, seq }, handle] = args as [ClusterMessage, Handle | undefined];
    if (act === 'newconn' && seq !== undefined && handle) inTransit.set(seq, handle);
    const isSent = send(...args);
    if (hasExited) closeAll(); // node:cluster releases them at `disconnect`, which may never be emitted
    return isSent;
  };
  worker.on('internalMessage', ({ ack }: { readonly ack?: number }) => {
    if (ack !== undefined) inTransit.delete(ack);
  });
  const closeAll = () => {
    for (const handle of inTransit.values()) handle.close();
    inTransit.clear();
  };
  worker.on('exit', () => {
    hasExited = true;
    closeAll();
  });
}
