import { webcrypto } from 'node:crypto';
import type { Transform } from 'node:stream';
import { Gzip } from 'node:zlib';

/** Streams of zlib with a piece of data that has not been worked off. */
const pending = new Set<Transform>();

/** Calls of WebCrypto that are under way. */
let working = 0;

let isWatching = false;

/** Sees from now on when zlib and WebCrypto are at work in other threads, which nothing of Node tells. */
export function watchOtherThreads(): void {
  if (isWatching) return;
  isWatching = true;
  const base = Object.getPrototypeOf(Object.getPrototypeOf(Gzip.prototype)) as Transform; // of Brotli as well
  const transform = Reflect.get(base, '_transform');
  const watched: Transform['_transform'] = function (this: Transform, chunk, encoding, callback) {
    pending.add(this);
    transform.call(this, chunk, encoding, (error, data) => {
      pending.delete(this);
      callback(error, data);
    });
  };
  Reflect.set(base, '_transform', watched);
  watchCrypto();
}

/** Work of WebCrypto, of which all is done in other threads. */
const cryptoMethods = ['decrypt', 'deriveBits', 'digest', 'encrypt', 'importKey', 'sign', 'verify'] as const;

function watchCrypto(): void {
  const { subtle } = webcrypto;
  for (const name of cryptoMethods) {
    const work = subtle[name].bind(subtle) as (...args: readonly unknown[]) => Promise<unknown>; // each takes its own
    Reflect.set(subtle, name, async (...args: readonly unknown[]) => {
      working += 1;
      try {
        return await work(...args);
      } finally {
        working -= 1;
      }
    });
  }
}

/** True while another thread compresses or works for WebCrypto; a stream that is full waits for its reader instead. */
export function isWorkingElsewhere(): boolean {
  if (working > 0) return true;
  for (const stream of pending)
    if (stream.destroyed) pending.delete(stream);
    else if (stream.readableLength < stream.readableHighWaterMark) return true;
  return false;
}
