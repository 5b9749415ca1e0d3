import type { Window, Windows } from '../../../plugin/core.js';

type Headers = Readonly<Record<string, string>>;

/** Usage windows of one account, as last reported by its replies; `GET /v1/usage` shows them. */
export class WindowGauge {
  readonly #onChange: (windows: Windows) => void;
  #windows: Windows = { '5h': null, '7d': null };

  constructor(onChange: (windows: Windows) => void = () => undefined) {
    this.#onChange = onChange;
  }

  get windows(): Windows {
    return this.#windows;
  }

  /** Reads the windows from the headers of a reply; a window without headers keeps its value. */
  read(headers: Headers): void {
    const fiveHours = readWindow(headers, '5h');
    const sevenDays = readWindow(headers, '7d');
    if (!fiveHours && !sevenDays) return;
    const known = this.#windows;
    if (isSame(fiveHours, known['5h']) && isSame(sevenDays, known['7d'])) return;
    this.#windows = { '5h': fiveHours ?? known['5h'], '7d': sevenDays ?? known['7d'] };
    this.#onChange(this.#windows);
  }

  /** Sets the windows reported to another instance. */
  set(windows: Windows): void {
    this.#windows = windows;
  }
}

function isSame(read: Window | undefined, known: Window | null): boolean {
  if (!read) return true; // not reported
  return read.percentUsed === known?.percentUsed && read.resetsAtMs === known.resetsAtMs;
}

function readWindow(headers: Headers, name: keyof Windows): Window | undefined {
  const used = headers[names[name].utilization];
  if (used === undefined) return undefined;
  const utilization = Number.parseFloat(used);
  const resetsAtMs = resetOf(headers, name);
  if (!Number.isFinite(utilization) || resetsAtMs === undefined) return undefined;
  return { percentUsed: Math.round(utilization * 10_000) / 100, resetsAtMs };
}

/** True if the headers report a window of the whole account as used up. */
export function isExhausted(headers: Headers): boolean {
  const status = headers[unifiedStatus];
  if (status !== undefined && status !== rejected) return false; // usage beyond the window is billed separately
  const ofWindows = windowNames.map((name) => headers[names[name].status]);
  return (
    ofWindows.includes(rejected) || (status === rejected && ofWindows.every((each) => each === undefined))
  );
}

/** Time when all exhausted windows are open again; undefined if the headers have none. */
export function exhaustedUntil(headers: Headers): GivenTime | undefined {
  const last = windowNames
    .filter((name) => headers[names[name].status] === rejected)
    .map((name) => headerTime(headers, names[name].reset, resetOf(headers, name)))
    .reduce((later, time) => (time && time.untilMs > (later?.untilMs ?? -1) ? time : later), undefined);
  return last ?? unifiedReset(headers);
}

/** Reset time of the limit behind a refusal. */
export function unifiedReset(headers: Headers): GivenTime | undefined {
  return headerTime(headers, unifiedResetHeader, toTime(headers[unifiedResetHeader]));
}

function headersOf(name: keyof Windows) {
  const each = `${prefix}${name}`;
  return { utilization: `${each}-utilization`, reset: `${each}-reset`, status: `${each}-status` };
}

function resetOf(headers: Headers, name: keyof Windows): number | undefined {
  return toTime(headers[names[name].reset]);
}

/** Parses unix seconds, or a date as in other limits; undefined for an invalid time. */
function toTime(text = ''): number | undefined {
  const seconds = text.trim() === '' ? Number.NaN : Number(text);
  const time = Number.isNaN(seconds) ? Date.parse(text) : seconds * 1000;
  return time >= 0 && time <= maxTimeMs ? time : undefined;
}

/** Max time of a Date. */
const maxTimeMs = 8.64e15;

const prefix = 'anthropic-ratelimit-unified-';
const unifiedStatus = `${prefix}status`;
const unifiedResetHeader = `${prefix}reset`;
const rejected = 'rejected';
/** Built once, because every reply needs them. */
const names = { '5h': headersOf('5h'), '7d': headersOf('7d') };
const windowNames = ['5h', '7d'] as const satisfies readonly (keyof Windows)[];

/** Time that a header of an upstream gives. */
export interface GivenTime {
  /** Unix milliseconds. */
  readonly untilMs: number;
  /** Header with its value: `retry-after: 7`. */
  readonly header: string;
}

/** Time in the header `name`; undefined for an invalid one. */
export function headerTime(
  headers: Readonly<Record<string, string>>,
  name: string,
  untilMs: number | undefined,
): GivenTime | undefined {
  return untilMs === undefined ? undefined : { untilMs, header: `${name}: ${headers[name]?.trim() ?? ''}` };
}
