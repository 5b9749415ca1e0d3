import type { WindowLimit } from '../contract/protocol-key.js';
import { dayMs } from '../../kit/time/clock.js';

/** Key or team with the limit. */
export interface LimitHolder {
  readonly kind: 'key' | 'team';
  readonly id: string;
}

/** Unit of a limit. */
export type LimitUnit = 'requests' | 'tokens' | 'usd';

/** Time window in which the use of one limit is counted. */
export interface LimitWindow {
  readonly limit: WindowLimit;
  readonly unit: LimitUnit;
  readonly holder: LimitHolder;
  /** Name of its meter. */
  readonly meter: string;
  /** A calendar day or month, unix milliseconds; absent: a minute, which begins with its first use. */
  readonly period?: Period;
}

interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The current window of a limit. `nowMs`: unix milliseconds. */
export function limitWindow(limit: WindowLimit, holder: LimitHolder, nowMs: number): LimitWindow {
  const { unit, periodAt } = kinds[limit];
  const period = periodAt?.(nowMs);
  const of = holder.kind === 'team' ? `team/${holder.id}` : holder.id;
  const meter = [limit, ...(period ? [period.fromMs] : []), of].join(':');
  return { limit, unit, holder, meter, ...(period && { period }) };
}

/** Amount of a limit as its meter counts it, in whole numbers: nano-USD if the limit is in USD. */
export function toMeter(limit: WindowLimit, amount: number): number {
  return kinds[limit].unit === 'usd' ? Math.round(amount * nanoPerUsd) : amount;
}

/** Amount in the unit of the limit, as in its meter. */
export function fromMeter(limit: WindowLimit, metered: number): number {
  return kinds[limit].unit === 'usd' ? metered / nanoPerUsd : metered;
}

const nanoPerUsd = 1e9;

function dayAt(nowMs: number): Period {
  const fromMs = Math.floor(nowMs / dayMs) * dayMs;
  return { fromMs, toMs: fromMs + dayMs };
}

function monthAt(nowMs: number): Period {
  const now = new Date(nowMs);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return { fromMs: Date.UTC(year, month, 1), toMs: Date.UTC(year, month + 1, 1) };
}

interface LimitKind {
  readonly unit: LimitUnit;
  /** Absent: a minute. */
  readonly periodAt?: (nowMs: number) => Period;
}

const kinds: Readonly<Record<WindowLimit, LimitKind>> = {
  requestsPerMinute: { unit: 'requests' },
  tokensPerMinute: { unit: 'tokens' },
  tokensPerDay: { unit: 'tokens', periodAt: dayAt },
  tokensPerMonth: { unit: 'tokens', periodAt: monthAt },
  usdPerDay: { unit: 'usd', periodAt: dayAt },
  usdPerMonth: { unit: 'usd', periodAt: monthAt },
};
