import { Type } from 'typebox';

/** Unit of a config value: its name in messages, and its parser. */
interface Unit {
  /** Noun in error messages: `a duration such as "30s"`. */
  readonly noun: string;
  /** Undefined if the value is invalid. */
  parse(value: unknown): number | undefined;
}

const durations: Readonly<Record<string, number>> = { ms: 1, s: 1e3, m: 60e3, h: 3_600e3, d: 86_400e3 };
const sizes: Readonly<Record<string, number>> = { '': 1, b: 1, kb: 2 ** 10, mb: 2 ** 20, gb: 2 ** 30 };

const percentages: Readonly<Record<string, number>> = { '%': 1 };

/** The units by the name that a schema's `unit` keyword gives them. */
export const units: Readonly<Record<'duration' | 'size' | 'time' | 'percentage', Unit>> = {
  duration: {
    noun: 'a duration such as "500ms", "30s" or "1h"',
    parse: (value) => whole(parseAmount(value, durations, /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/)),
  },
  size: {
    noun: 'a size such as "512kb" or "128mb", or a number of bytes',
    parse: (value) => whole(parseAmount(value, sizes, /^(\d+(?:\.\d+)?)\s*(b|kb|mb|gb|)$/)),
  },
  time: {
    noun: 'a time such as 2026-01-01T12:00:00Z, or unix milliseconds',
    parse: (value) => unixMs(String(value)),
  },
  percentage: {
    noun: 'a percentage such as "10%" or "0.5%"',
    parse: (value) => {
      const percent = parseAmount(value, percentages, /^(\d+(?:\.\d+)?)\s*(%)$/);
      return percent !== undefined && percent <= 100 ? percent : undefined;
    },
  },
};

interface UnitOptions {
  readonly default?: string;
  readonly description?: string;
  readonly examples?: readonly string[];
}

/** Schema of a duration with its unit, `30s`: a bare number would be ambiguous. */
export function Duration(options?: UnitOptions) {
  return Type.Unsafe<string>({ unit: 'duration', ...options });
}

/** Schema of a size, `128mb` (1 mb is 1,048,576 bytes), or a number of bytes. */
export function Size(options?: UnitOptions) {
  return Type.Unsafe<string | number>({ unit: 'size', ...options });
}

/** Schema of a moment: an ISO 8601 time with its zone, a date (midnight UTC), or unix milliseconds. */
export function Time(options?: UnitOptions) {
  return Type.Unsafe<string | number>({ unit: 'time', ...options });
}

/** Schema of a percentage with its sign, `10%`: a bare number might be a fraction. */
export function Percentage(options?: UnitOptions) {
  return Type.Unsafe<string>({ unit: 'percentage', ...options });
}

/** Number before the sign of a `Percentage` value. Throws a TypeError on anything else. */
export function percentOf(text: string): number {
  return inUnit('percentage', text);
}

/** Unix milliseconds of a `Time` value. Throws a TypeError on anything else. */
export function timeMs(time: string | number): number {
  return inUnit('time', time);
}

/** Milliseconds in `1h`, `30s`, `500ms`, `1.5m`, `2d`. Throws a TypeError on anything else. */
export function durationMs(text: string): number {
  return inUnit('duration', text);
}

/** Bytes in `128mb`, `1gb`, `4096`. Throws a TypeError on anything else. */
export function sizeBytes(text: string | number): number {
  return inUnit('size', text);
}

function inUnit(name: keyof typeof units, value: string | number): number {
  const parsed = units[name].parse(value);
  if (parsed === undefined) throw new TypeError(`${JSON.stringify(value)} is not ${units[name].noun}.`);
  return parsed;
}

/** Parses unix milliseconds or an ISO time, up to the year 9999: later years have no portable ISO form. */
function unixMs(text: string): number | undefined {
  const ms = /^\d{1,15}$/.test(text) ? Number(text) : isoTime.test(text) ? Date.parse(text) : NaN;
  return ms <= maxTimeMs ? ms : undefined;
}

const isoTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/i;
const maxTimeMs = Date.UTC(9999, 11, 31);

function whole(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value);
}

function parseAmount(
  value: unknown,
  factors: Readonly<Record<string, number>>,
  pattern: RegExp,
): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const [, digits, suffix] = pattern.exec(String(value).trim().toLowerCase()) ?? [];
  const factor = factors[suffix ?? 'none'];
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor;
}
