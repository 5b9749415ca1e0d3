import { GatewayError, type Caller } from '../../plugin/index.js';
import type { Handshake } from '../../engine/http/connection/upgrades.js';
import type { Session } from './session.js';

/** Registry of the open WebSockets, with the number of each key. */
export class OpenSockets {
  readonly #maxPerKey: number;
  readonly #sessions = new Set<Session>();
  readonly #counts = new Map<string, number>();

  constructor(maxPerKey: number) {
    this.#maxPerKey = maxPerKey;
  }

  get count(): number {
    return this.#sessions.size;
  }

  /** Open sessions. */
  get sessions(): Iterable<Session> {
    return this.#sessions;
  }

  /** Counts a WebSocket of this key in; returns a function that counts it out. Throws `rate_limited`. */
  reserve(keyId: string): () => void {
    const count = this.#counts.get(keyId) ?? 0;
    if (count >= this.#maxPerKey) throw tooMany(this.#maxPerKey);
    this.#counts.set(keyId, count + 1);
    return () => {
      const left = (this.#counts.get(keyId) ?? 0) - 1;
      if (left > 0) this.#counts.set(keyId, left);
      else this.#counts.delete(keyId);
    };
  }

  add(session: Session): void {
    this.#sessions.add(session);
  }

  delete(session: Session): void {
    this.#sessions.delete(session);
  }

  /** Closes all, each after its current answer. */
  drain(): void {
    for (const session of this.#sessions) session.drain();
  }

  terminate(): void {
    for (const session of this.#sessions) session.terminate();
  }
}

/** WebSocket since its handshake, as its requests see it. */
export class SocketConnection implements Handshake {
  kept: unknown;
  /** Body of an error, as in its format. */
  errorBody: (error: GatewayError) => object = (error) => error.toJSON();
  readonly #sockets: OpenSockets;
  #release: (() => void) | undefined;
  #hasEnded = false;

  constructor(sockets: OpenSockets) {
    this.#sockets = sockets;
  }

  /** True after the route of a WebSocket has admitted the caller. */
  get isAdmitted(): boolean {
    return this.#release !== undefined;
  }

  /** Admits the caller of the handshake, unless it has disconnected. Throws `rate_limited`. */
  admit(caller: Caller | undefined, errorBody = this.errorBody): void {
    if (this.#hasEnded) return;
    this.errorBody = errorBody;
    this.#release ??= this.#sockets.reserve(caller?.keyId ?? '');
  }

  release(): void {
    this.#hasEnded = true;
    this.#release?.();
    this.#release = undefined;
  }
}

function tooMany(max: number): GatewayError {
  const message = `This key has ${max} open WebSockets, the maximum of listen.webSockets.maxPerKey; close one.`;
  return new GatewayError('rate_limited', message);
}
