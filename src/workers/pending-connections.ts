import type { ChildProcess } from 'node:child_process';

/** As the cluster module hands a connection to a worker. */
interface Handing {
  readonly act?: string;
  readonly seq?: number;
}

interface Handle {
  close(): void;
}

/**
 * Hangs up on callers whose connection was on its way to a worker when that died. The cluster module holds each until
 * the worker has said that it has it, which such a worker never does: its callers would wait for ever.
 */
export function hangUpOnUnaccepted(worker: ChildProcess): void {
  const onTheirWay = new Map<number, Handle>();
  let hasExited = false;
  const send = worker.send.bind(worker) as (...args: readonly unknown[]) => boolean; // whatever it is called with
  worker.send = (...args: readonly unknown[]) => {
    const [{ act, seq }, handle] = args as [Handing, Handle | undefined];
    if (act === 'newconn' && seq !== undefined && handle) onTheirWay.set(seq, handle);
    const isSent = send(...args);
    if (hasExited) hangUp(); // the cluster module forgets a worker at its `disconnect`, which may never come
    return isSent;
  };
  worker.on('internalMessage', ({ ack }: { readonly ack?: number }) => {
    if (ack !== undefined) onTheirWay.delete(ack);
  });
  const hangUp = () => {
    for (const handle of onTheirWay.values()) handle.close();
    onTheirWay.clear();
  };
  worker.on('exit', () => {
    hasExited = true;
    hangUp();
  });
}
