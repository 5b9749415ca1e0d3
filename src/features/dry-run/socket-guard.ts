import { Socket } from 'node:net';

/** Open guards; connections are counted to the last one. */
const guards: SocketGuard[] = [];

/** Refuses the connections of this thread for as long as it is open. */
export class SocketGuard {
  #refused: string[] = [];

  constructor() {
    refuseSockets();
    guards.push(this);
  }

  /** Counts connections from now on to this one of several guards. */
  lead(): void {
    this.close();
    guards.push(this);
  }

  note(address: string): void {
    if (this.#refused.length < maxRefused) this.#refused.push(address);
  }

  /** Addresses of refused connections, which are forgotten. */
  take(): readonly string[] {
    return this.#refused.splice(0);
  }

  close(): void {
    const at = guards.indexOf(this);
    if (at !== -1) guards.splice(at, 1);
  }
}

const maxRefused = 100;

/** The overloads of `connect` as one function. */
type Connect = (this: Socket, ...args: unknown[]) => Socket;

let isRefusing = false;

/** Makes connects fail while a guard is open, at the only place that all of them pass: TLS has no event for it. */
function refuseSockets(): void {
  if (isRefusing) return;
  isRefusing = true;
  const connect = Reflect.get(Socket.prototype, 'connect') as Connect;
  const guarded: Connect = function (...args) {
    const guard = guards.at(-1);
    if (!guard) return connect.apply(this, args);
    const address = addressOf(args);
    guard.note(address);
    const error = new Error(`A dry run opens no connections; refused: ${address}.`);
    setImmediate(() => this.destroy(error)); // listeners are added after the call
    return this;
  };
  Reflect.set(Socket.prototype, 'connect', guarded);
}

/** Address of a connect; Node itself passes its arguments as one array. */
function addressOf(args: readonly unknown[]): string {
  const [first, second] = args.flat();
  if (typeof first === 'object' && first !== null) {
    const { host = 'localhost', port, path } = first as { host?: string; port?: unknown; path?: string };
    return path ?? `${host}:${String(port)}`;
  }
  return typeof first === 'number'
    ? `${typeof second === 'string' ? second : 'localhost'}:${first}`
    : String(first);
}
