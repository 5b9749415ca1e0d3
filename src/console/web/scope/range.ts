import { rangeTime, dayMs, hourMs } from '../format/times.js';
import type { Option } from '../ui/input/select.js';

export type PresetName = '1h' | '24h' | '7d' | '30d';
type RangeName = PresetName | 'all' | 'custom';

/** Range of time that a page shows, as in the URL. */
export type Range =
  | { readonly name: PresetName | 'all' }
  | { readonly name: 'custom'; readonly fromMs: number; readonly toMs: number };

/** A range at one moment, in buckets. Unix milliseconds, `fromMs` included and `toMs` not. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepSeconds: number;
  readonly buckets: number;
}

/** Buckets up to the unfinished current one, one more than the range contains, so that all of it is covered. */
const presets: Readonly<Record<PresetName, { readonly stepSeconds: number; readonly buckets: number }>> = {
  '1h': { stepSeconds: 120, buckets: 31 },
  '24h': { stepSeconds: 3600, buckets: 25 },
  '7d': { stepSeconds: 21_600, buckets: 29 },
  '30d': { stepSeconds: 86_400, buckets: 31 },
};

export const presetOptions: readonly Option<PresetName>[] = [
  { value: '1h', text: '1 h' },
  { value: '24h', text: '24 h' },
  { value: '7d', text: '7 days' },
  { value: '30d', text: '30 days' },
];

const presetWords: Readonly<Record<PresetName | 'all', string>> = {
  '1h': 'the last hour',
  '24h': 'the last 24 hours',
  '7d': 'the last 7 days',
  '30d': 'the last 30 days',
  all: 'all the time that the ledger keeps',
};

/** The range in the URL; without one, or with one that cannot be read, `fallback`. */
export function readRange(query: URLSearchParams, fallback: PresetName | 'all'): Range {
  const [fromMs, toMs] = [readTime(query.get('from')), readTime(query.get('to'))];
  if (fromMs !== undefined && toMs !== undefined && fromMs < toMs) return { name: 'custom', fromMs, toMs };
  const name = query.get('range');
  if (name === 'all') return { name: fallback === 'all' ? 'all' : fallback };
  return { name: presetOptions.find(({ value }) => value === name)?.value ?? fallback };
}

/** Query parameters of a range. */
export function writeRange(range: Range): Readonly<Record<'range' | 'from' | 'to', string | null>> {
  if (range.name !== 'custom') return { range: range.name, from: null, to: null };
  return { range: null, from: writeTime(range.fromMs), to: writeTime(range.toMs) };
}

/** A range as the object of "in": the last hour, or two times. */
export function rangeInWords(range: Range): string {
  if (range.name !== 'custom') return presetWords[range.name];
  return `the time from ${rangeTime(new Date(range.fromMs))} to ${rangeTime(new Date(range.toMs))}`;
}

/** Key of a range: the same text for the same range. */
export function rangeKey(range: Range): string {
  return range.name === 'custom' ? `${range.fromMs}-${range.toMs}` : range.name;
}

/** True if a range lies in the past as a whole. */
export function isPast(range: Range, nowMs = Date.now()): boolean {
  return range.name === 'custom' && range.toMs <= nowMs;
}

export function isPreset(name: RangeName): name is PresetName {
  return name !== 'all' && name !== 'custom';
}

/** Span of a range in buckets: whole ones in the browser's time zone, up to and including the current one. */
export function spanOf(range: Range, nowMs: number): Span {
  if (range.name === 'custom') return customSpan(range);
  const { stepSeconds, buckets } = presets[range.name === 'all' ? '30d' : range.name];
  const stepMs = stepSeconds * 1000;
  // Aligned to whole UTC hours, also in time zones with a half-hour offset: the ledger's sums begin there.
  const offsetMs = Math.trunc(new Date(nowMs).getTimezoneOffset() / 60) * hourMs;
  const toMs = Math.floor((nowMs - offsetMs) / stepMs + 1) * stepMs + offsetMs;
  return { fromMs: toMs - stepMs * buckets, toMs, stepSeconds, buckets };
}

/** Steps of a custom range: for up to a day of minutes, beyond it of whole hours, which the ledger sums. */
const minuteSteps = [60, 120, 300, 600, 1200, 1800];
const hourSteps = [3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 2_592_000];
const maxBuckets = 48;

function customSpan({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): Span {
  const isShort = toMs - fromMs <= dayMs;
  const wholeMs = isShort ? 60_000 : hourMs;
  const from = Math.floor(fromMs / wholeMs) * wholeMs;
  const to = Math.ceil(toMs / wholeMs) * wholeMs;
  const bucketsOf = (stepSeconds: number) => Math.ceil((to - from) / (stepSeconds * 1000));
  const steps = isShort ? minuteSteps : hourSteps;
  const stepSeconds = steps.find((step) => bucketsOf(step) <= maxBuckets) ?? steps.at(-1) ?? 3600;
  return { fromMs: from, toMs: to, stepSeconds, buckets: bucketsOf(stepSeconds) };
}

/** UTC to the minute, so that a link means the same in every time zone. */
function writeTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16)}Z`;
}

function readTime(text: string | null): number | undefined {
  if (!text || !/^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
