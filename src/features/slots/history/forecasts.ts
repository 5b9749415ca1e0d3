import type { SlotHistory, WindowSample } from '../../../state/store/contract/slot-history.js';
import type { SlotStatus } from '../../../plugin/core.js';
import { forecast, type Forecast } from './forecast.js';
import { hourMs } from '../../../kit/time/clock.js';

/** Usage windows: their lengths, and the steps in which they are sampled. */
export const windows = {
  '5h': { lengthMs: 5 * hourMs, stepMs: 2 * 60_000 },
  '7d': { lengthMs: 7 * 24 * hourMs, stepMs: hourMs / 2 },
} as const;

export type WindowName = keyof typeof windows;

export const windowNames = ['5h', '7d'] as const satisfies readonly WindowName[];

export type SlotForecast = Readonly<Record<WindowName, Forecast | null>>;

interface ForecastsOptions {
  readonly store: Pick<SlotHistory, 'samples'>;
  readonly now: () => number;
}

/** Forecasts of the usage windows of slots; samples are read from the store at most twice a minute. */
export class Forecasts {
  readonly #options: ForecastsOptions;
  #samples: Promise<ReadonlyMap<string, readonly WindowSample[]>> | undefined;
  #readAtMs = -Infinity;

  constructor(options: ForecastsOptions) {
    this.#options = options;
  }

  /** Forecast of a slot; null for a window that it does not have. */
  async of({ id, windows: used }: Pick<SlotStatus, 'id' | 'windows'>): Promise<SlotForecast> {
    if (!used['5h'] && !used['7d']) return none;
    const samples = await this.#read();
    const nowMs = this.#options.now();
    const one = (name: WindowName): Forecast | null => {
      const window = used[name];
      if (!window || window.resetsAtMs <= nowMs) return null;
      const known = samples.get(keyOf(id, name)) ?? [];
      return forecast([...known, { atMs: nowMs, ...window }], windows[name].lengthMs);
    };
    return { '5h': one('5h'), '7d': one('7d') };
  }

  #read(): Promise<ReadonlyMap<string, readonly WindowSample[]>> {
    const { store, now } = this.#options;
    const nowMs = now();
    if (this.#samples && nowMs - this.#readAtMs < freshMs) return this.#samples;
    this.#readAtMs = nowMs;
    this.#samples = store.samples(nowMs - windows['7d'].lengthMs).then(bySlot, () => {
      this.#samples = undefined; // a store that is away: the next call asks again
      return new Map();
    });
    return this.#samples;
  }
}

const none: SlotForecast = { '5h': null, '7d': null };
const freshMs = 30_000;

function bySlot(samples: readonly WindowSample[]): ReadonlyMap<string, readonly WindowSample[]> {
  const groups = new Map<string, WindowSample[]>();
  for (const sample of samples) {
    const key = keyOf(sample.slot, sample.window);
    const group = groups.get(key);
    if (group) group.push(sample);
    else groups.set(key, [sample]);
  }
  return groups;
}

function keyOf(slot: string, window: WindowName): string {
  return `${window}/${slot}`;
}
