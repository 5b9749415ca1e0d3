import { webcrypto } from 'node:crypto';
import type { Transform } from 'node:stream';
import { Gzip } from 'node:zlib';

/** Streams of zlib with a piece of data that has not been worked off. */
const pending = new Set<Transform>();

/** Signatures that are being checked. */
let verifying = 0;

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
  watchSignatures();
}

function watchSignatures(): void {
  const { subtle } = webcrypto;
  const verify = subtle.verify.bind(subtle);
  const watched: typeof verify = async (...args) => {
    verifying += 1;
    try {
      return await verify(...args);
    } finally {
      verifying -= 1;
    }
  };
  Reflect.set(subtle, 'verify', watched);
}

/** True while another thread compresses or checks a signature; a stream that is full waits for its reader instead. */
export function isWorkingElsewhere(): boolean {
  if (verifying > 0) return true;
  for (const stream of pending)
    if (stream.destroyed) pending.delete(stream);
    else if (stream.readableLength < stream.readableHighWaterMark) return true;
  return false;
}
