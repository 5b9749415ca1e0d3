import { Duplex } from 'node:stream';

type Done = (error?: Error | null) => void;

/** Address of a caller. */
interface Peer {
  readonly remoteAddress?: string | undefined;
  readonly remoteFamily?: string | undefined;
  readonly remotePort?: number | undefined;
}

/** One end of a connection within this process, with the socket members that HTTP expects. */
export class MemorySocket extends Duplex {
  readonly remoteAddress: string;
  readonly remoteFamily: string;
  readonly remotePort: number;
  bytesRead = 0;
  #peer: MemorySocket = this;
  /** Continues the peer's write, which waits until this end is read. */
  #onRead: Done | undefined;

  private constructor({ remoteAddress = '127.0.0.1', remoteFamily = 'IPv4', remotePort = 1 }: Peer) {
    super();
    this.remoteAddress = remoteAddress;
    this.remoteFamily = remoteFamily;
    this.remotePort = remotePort;
  }

  /** Both ends of a new connection; `peer`: the address that they name. */
  static pair(peer: Peer = {}): readonly [MemorySocket, MemorySocket] {
    const [one, other] = [new MemorySocket(peer), new MemorySocket(peer)];
    one.#peer = other;
    other.#peer = one;
    return [one, other];
  }

  override _read(): void {
    const onRead = this.#onRead;
    this.#onRead = undefined;
    onRead?.();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: Done): void {
    const peer = this.#peer;
    if (peer.destroyed || peer.readableEnded) return done(broken('EPIPE'));
    peer.bytesRead += chunk.length;
    peer.#onRead = done;
    if (chunk.length === 0) peer._read();
    else peer.push(chunk);
  }

  override _final(done: Done): void {
    if (!this.#peer.destroyed) this.#peer.push(null);
    done();
  }

  override _destroy(error: Error | null, done: Done): void {
    this._read();
    const peer = this.#peer;
    if (!peer.destroyed && !peer.readableEnded && !this.writableFinished) peer.push(null);
    done(error);
  }

  /** Destroys both ends, as a reset does. */
  resetAndDestroy(): this {
    const peer = this.#peer;
    this.destroy();
    process.nextTick(() => peer.destroy(broken('ECONNRESET')));
    return this;
  }

  destroySoon(): void {
    if (this.writableFinished) this.destroy();
    else this.end().once('finish', () => this.destroy());
  }

  /** Ignores socket timeouts, since the gateway's own limits use its clock. */
  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

function broken(code: 'EPIPE' | 'ECONNRESET'): Error {
  return Object.assign(new Error(`write ${code}`), { code });
}
