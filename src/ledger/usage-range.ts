import type { UsageGroup, UsageQuery } from '../plugin/index.js';

const hourMs = 3_600_000;

/** Unix milliseconds, cut down to the whole hour. */
export function hourOf(ms: number): number {
  return Math.floor(ms / hourMs) * hourMs;
}

/** The range of a usage query in whole milliseconds, widened to whole hours where its buckets are. */
export function bucketsOf({ fromMs, toMs, stepMs }: Omit<UsageQuery, 'by'>): Omit<UsageQuery, 'by'> & {
  readonly isHourly: boolean;
} {
  const step = Math.max(1, Math.floor(stepMs));
  const isHourly = step % hourMs === 0;
  if (!isHourly) return { fromMs: Math.floor(fromMs), toMs: Math.ceil(toMs), stepMs: step, isHourly };
  return { fromMs: hourOf(fromMs), toMs: hourOf(Math.ceil(toMs) + hourMs - 1), stepMs: step, isHourly };
}

/** The column of a group, in the rows and in the hours. */
export const groupColumnOf = {
  key: 'key_id',
  slot: 'slot',
  model: 'model',
  format: 'format',
} as const satisfies Readonly<Record<UsageGroup, string>>;
