import { UsageError } from '../../gateway/start-failure.js';

/** Reads `--slot SLOT=SCENARIO`: scenarios by slot, those of one slot in the order given. Throws a UsageError. */
export function scenariosOf(
  given: readonly string[],
  known: readonly string[],
): Record<string, readonly string[]> {
  const bySlot: Record<string, readonly string[]> = {};
  for (const each of given) {
    const at = each.indexOf('=');
    const id = each.slice(0, Math.max(at, 0));
    if (!known.includes(id))
      throw new UsageError(
        `--slot takes SLOT=SCENARIO, not ${JSON.stringify(each)}; slots are ${known.join(', ')}.`,
      );
    bySlot[id] = [...(bySlot[id] ?? []), each.slice(at + 1)];
  }
  return bySlot;
}
