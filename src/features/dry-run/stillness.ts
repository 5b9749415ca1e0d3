import { AsyncResource } from 'node:async_hooks';
import { webcrypto } from 'node:crypto';
import type { Transform } from 'node:stream';
import { Gzip } from 'node:zlib';

/** Turns of the event loop without new work, after which it counts as idle. */
const stillTurns = 2;

/** Real time for invisible work of other threads (hashes), in ms. */
const graceMs = 1;

/** Max real time to wait for an idle process, in ms. */
const maxMs = 10_000;

/**
 * Detects that everything in this process waits for a timer of the dry clock: nothing has begun in a turn of the event
 * loop that uses no more asynchronous ids than the check itself. Uses callbacks throughout, since promises would take
 * ids too.
 */
export class Stillness {
  readonly #before = countBusy();

  constructor() {
    watchOtherThreads();
  }

  /** Resolves when nothing is running any more, or when `isOver`. Rejects after ten seconds. */
  wait(isOver: () => boolean): Promise<void> {
    const endMs = performance.now() + maxMs;
    return new Promise((resolve, reject) => {
      let turns = 0;
      let hadGrace = false;
      const look = (isStill: boolean): void => {
        if (isOver()) return resolve();
        if (performance.now() > endMs) return reject(new Error(endless));
        turns = isStill ? turns + 1 : 0;
        hadGrace &&= isStill;
        if (!isStill) return this.#retry(look);
        if (turns < stillTurns) return this.#turn(look);
        if (hadGrace) return resolve();
        hadGrace = true;
        setTimeout(() => this.#turn(look), graceMs);
      };
      this.#turn(look);
    });
  }

  /** Calls `work`; true if it has started nothing that is still running. */
  isStillAfter(work: () => void): Promise<boolean> {
    return new Promise((resolve) => {
      work();
      setImmediate(() => this.#turn(resolve)); // the first turn is the caller's own
    });
  }

  /** Checks again in the next turn, or after a while if work is running elsewhere. */
  #retry(look: (isStill: boolean) => void): void {
    if (this.#isBusy()) setTimeout(() => this.#turn(look), graceMs);
    else this.#turn(look);
  }

  #turn(look: (isStill: boolean) => void): void {
    const before = lastId();
    setImmediate(() => look(lastId() - before <= ownIds && !this.#isBusy()));
  }

  /**
   * True while another thread is busy, or a file, a name or a timer is awaited that did not exist at the beginning.
   */
  #isBusy(): boolean {
    if (isWorkingElsewhere()) return true;
    for (const [kind, count] of countBusy()) if (count > (this.#before.get(kind) ?? 0)) return true;
    return false;
  }
}

/** Number of ids that each check itself uses: its turn's, and the one that it reads. */
const ownIds = 2;

const endless = `still busy after ${maxMs / 1000} s of real time; does a plugin use a timer of its own instead of host.clock?`;

function lastId(): number {
  return new AsyncResource('gw2api.dry', { requireManualDestroy: true }).asyncId();
}

/** Resources that keep the process alive and end by themselves, counted by kind. */
function countBusy(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    if (kind === 'Timeout' || kind.includes('Req')) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** Streams of zlib with unfinished data. */
const pending = new Set<Transform>();

/** Running calls of WebCrypto. */
let working = 0;

let isWatching = false;

/** Detects from now on when zlib and WebCrypto are busy in other threads, which Node does not report. */
function watchOtherThreads(): void {
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

/** Work of WebCrypto, all of which other threads do. */
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

/** True while another thread compresses or works for WebCrypto; a full stream waits for its reader instead. */
function isWorkingElsewhere(): boolean {
  if (working > 0) return true;
  for (const stream of pending)
    if (stream.destroyed) pending.delete(stream);
    else if (stream.readableLength < stream.readableHighWaterMark) return true;
  return false;
}
