import type { Tokens } from '../api/ledger.js';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** Whole number: 1,234,567 */
export function count(value: number): string {
  return whole.format(value);
}

/** Short number: 1.2M; written in full below ten thousand. */
export function compact(value: number): string {
  return Math.abs(value) < 10_000 ? count(value) : short.format(value);
}

/** Number of things, in full or short: 1 request, 1.2M tokens. */
export function counted(value: number, thing: string, format: (value: number) => string = count): string {
  return `${format(value)} ${thing}${value === 1 ? '' : 's'}`;
}

/** Percentage of two counts: 12.3 % */
export function share(part: number, total: number): string {
  if (total === 0 || part === 0) return '0 %';
  const percent = (part / total) * 100;
  return `${percent < 10 ? percent.toFixed(1) : percent.toFixed(0)} %`;
}

/** Duration: 640 ms, 1.2 s, 3 min 20 s. */
export function duration(ms: number): string {
  if (ms < 10 && ms % 1 !== 0) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return span(ms);
}

/** Time span in the past or future: 4 s, 3 min 20 s, 2 h 5 min, 3 d 4 h. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** All input tokens, cached or not. */
export function inputTokens(tokens: Tokens): number {
  return tokens.input + tokens.cache_read + tokens.cache_write_5m + tokens.cache_write_1h;
}

export function allTokens(tokens: Tokens): number {
  return inputTokens(tokens) + tokens.output;
}
