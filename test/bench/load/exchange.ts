import type { Dispatcher } from 'undici';
import { nowMicros } from '../upstream/scripts.js';

/** An answer as it came: its pieces, and when each of them did. */
export interface Answer {
  readonly status: number;
  readonly chunks: readonly Buffer[];
  readonly startedMicros: number;
  /** One for each chunk. */
  readonly atMicros: readonly number[];
}

/** Behaviour of a caller that reads slowly or leaves. */
export interface Manners {
  /** Rate at which it reads the answer. */
  readonly bytesPerMs?: number;
  /** It leaves at the first piece of the answer, and the exchange rejects with `Left`. */
  readonly leaves?: boolean;
}

export class Left extends Error {}

/** Sends one request and keeps all that comes. */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { bytesPerMs, leaves = false }: Manners = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const atMicros: number[] = [];
    const startedMicros = nowMicros();
    let status = 0;
    dispatcher.dispatch(request, {
      onRequestStart() {},
      onResponseStart: (_, statusCode) => void (status = statusCode),
      onResponseData(controller, chunk) {
        chunks.push(chunk);
        atMicros.push(nowMicros());
        if (leaves) controller.abort(new Left());
        if (bytesPerMs === undefined) return;
        controller.pause();
        setTimeout(() => controller.resume(), chunk.length / bytesPerMs);
      },
      onResponseEnd: () => resolve({ status, chunks, startedMicros, atMicros }),
      onResponseError: (_, error) => reject(error),
    });
  });
}
