const tickMs = 5;

/**
 * How long some work takes by a clock that stands still while this process does: a machine that stops for a moment tells
 * nothing about whether the work waits for something. For upper bounds; work that keeps the event loop busy is not seen.
 */
export async function livedMs(work: () => Promise<unknown>): Promise<number> {
  let lived = 0;
  let last = performance.now();
  const tick = (): void => {
    const now = performance.now();
    lived += Math.min(now - last, 2 * tickMs);
    last = now;
  };
  const ticker = setInterval(tick, tickMs);
  try {
    await work();
    tick();
    return lived;
  } finally {
    clearInterval(ticker);
  }
}
