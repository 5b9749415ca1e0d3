import type { Option } from '../../../console/web/ui/input/select.js';

export type SpanName = '1h' | '24h' | '7d' | '30d';

/** Span of the page in buckets. Unix milliseconds, `fromMs` included and `toMs` not. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepSeconds: number;
  readonly buckets: number;
}

/** Buckets up to the unfinished current one, one more than the range contains, so that all of it is covered. */
const spans: Readonly<Record<SpanName, { stepSeconds: number; buckets: number; words: string }>> = {
  '1h': { stepSeconds: 120, buckets: 31, words: 'the last hour' },
  '24h': { stepSeconds: 3600, buckets: 25, words: 'the last 24 hours' },
  '7d': { stepSeconds: 21_600, buckets: 29, words: 'the last 7 days' },
  '30d': { stepSeconds: 86_400, buckets: 31, words: 'the last 30 days' },
};

export const spanOptions: readonly Option<SpanName>[] = [
  { value: '1h', text: '1 h' },
  { value: '24h', text: '24 h' },
  { value: '7d', text: '7 days' },
  { value: '30d', text: '30 days' },
];

export function spanNameOf(text: string | null): SpanName {
  return spanOptions.find(({ value }) => value === text)?.value ?? '24h';
}

export function spanInWords(name: SpanName): string {
  return spans[name].words;
}

/** Whole buckets up to and including the current one. */
export function spanOf(name: SpanName, nowMs: number): Span {
  const { stepSeconds, buckets } = spans[name];
  const stepMs = stepSeconds * 1000;
  const toMs = Math.floor(nowMs / stepMs + 1) * stepMs;
  return { fromMs: toMs - stepMs * buckets, toMs, stepSeconds, buckets };
}
