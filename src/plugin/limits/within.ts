/** A wait that has taken too long. */
export class LateError extends Error {
  override readonly name = 'LateError';
}

/**
 * The result of `work`, or a LateError of this message where that takes longer than `ms`. After a pause of the whole process its
 * timers ring before what has arrived meanwhile is read, so that the end of the time is waited for once more, briefly.
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
