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

/** Sends one request and keeps all that comes; `pauseMs` after each chunk, where the reader is a slow one. */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  pauseMs?: number,
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
        if (pauseMs === undefined) return;
        controller.pause();
        setTimeout(() => controller.resume(), pauseMs);
      },
      onResponseEnd: () => resolve({ status, chunks, startedMicros, atMicros }),
      onResponseError: (_, error) => reject(error),
    });
  });
}
