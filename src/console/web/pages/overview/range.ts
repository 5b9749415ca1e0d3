import type { Option } from '../../ui/select.js';

export type RangeName = '1h' | '24h' | '7d' | '30d';

export interface Range {
  readonly step: string;
  readonly stepSeconds: number;
  readonly buckets: number;
  readonly words: string;
}

/** Ranges of the overview; each has about as many buckets as bars fit on a phone. */
export const ranges: Readonly<Record<RangeName, Range>> = {
  '1h': { step: '2m', stepSeconds: 120, buckets: 30, words: 'the last hour' },
  '24h': { step: '1h', stepSeconds: 3600, buckets: 24, words: 'the last 24 hours' },
  '7d': { step: '6h', stepSeconds: 21_600, buckets: 28, words: 'the last 7 days' },
  '30d': { step: '1d', stepSeconds: 86_400, buckets: 30, words: 'the last 30 days' },
};

export const rangeOptions: readonly Option<RangeName>[] = [
  { value: '1h', text: '1 h' },
  { value: '24h', text: '24 h' },
  { value: '7d', text: '7 days' },
  { value: '30d', text: '30 days' },
];

export function rangeOf(text: string | null): RangeName {
  return rangeOptions.find(({ value }) => value === text)?.value ?? '24h';
}

export interface Span {
  /** Unix milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Span of a range: whole buckets in the browser's time zone, up to and including the current one. */
export function spanOf({ stepSeconds, buckets }: Range, nowMs: number): Span {
  const stepMs = stepSeconds * 1000;
  // Aligned to whole UTC hours, also in time zones with a half-hour offset: the ledger's sums begin there.
  const offsetMs = Math.trunc(new Date(nowMs).getTimezoneOffset() / 60) * 3_600_000;
  const toMs = Math.floor((nowMs - offsetMs) / stepMs + 1) * stepMs + offsetMs;
  return { fromMs: toMs - stepMs * buckets, toMs };
}
