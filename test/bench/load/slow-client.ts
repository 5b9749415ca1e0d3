import type { Dispatcher } from 'undici';

/** Sends a request whose answer is taken slowly; resolves with its first bytes. The rest ends with the dispatcher. */
export function readSlowly(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  bytesPerMs: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(request, {
      onRequestStart() {},
      onResponseStart(_, status) {
        if (status !== 200) throw new Error(`status ${status}`);
      },
      onResponseData(controller, chunk) {
        resolve();
        controller.pause();
        setTimeout(() => controller.resume(), chunk.length / bytesPerMs).unref();
      },
      onResponseEnd() {},
      onResponseError: (_, error) => reject(error), // which nobody hears once there was an answer
    });
  });
}
