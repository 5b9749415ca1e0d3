/** Timeout error of `within`. */
export class LateError extends Error {
  override readonly name = 'LateError';
}

/**
 * Applies a timeout: the result of `work`, or a LateError with this message after `ms`. A short grace period
 * follows, because after a pause of the whole process timers fire before the replies that arrived meanwhile
 * are read.
 */
export async function within<Result>(work: Promise<Result>, ms: number, message: string): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const giveUp = () => reject(new LateError(message));
    timer = setTimeout(() => (timer = setTimeout(giveUp, graceMs)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const graceMs = 50;
