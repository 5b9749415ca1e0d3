import { setTimeout as delay } from 'node:timers/promises';

/** Resolves once `isSo`; throws where that takes longer than `ms`. For what no event tells of. */
export async function eventually(isSo: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`not so after ${ms} ms: ${String(isSo)}`);
    await delay(3);
  }
}
