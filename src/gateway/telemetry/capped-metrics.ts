import * as prom from 'prom-client';
import type { Counter, Histogram } from '../../plugin/core.js';
import { Meter, registerHistogram } from './metered-histogram.js';

type Labels = Readonly<Record<string, string>>;

interface MetricShape {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Max label sets; the rest counts as `other`. */
  readonly maxSets?: number;
}

/** Counter whose time series can be kept, which saves the look-up of their labels. */
export interface CappedCounter extends Counter {
  /** Time series of these labels, which is shown from now on, at first with 0. */
  series(labels: Labels): { add(amount?: number): void };
}

/** Histogram whose time series can be kept. */
export interface CappedHistogram extends Histogram {
  series(labels: Labels): { observe(value: number): void };
}

/** Counter of prom-client with a cap on its label sets; it gets the additions before each scrape. */
export function cappedCounter(shape: MetricShape, registry: prom.Registry): CappedCounter {
  const { name, help, labels } = shape;
  const sets = new LabelSets(shape, (values) => ({ values, pending: 0 }));
  const collect = (): void => {
    for (const set of sets) {
      counter.inc(set.values, set.pending);
      set.pending = 0;
    }
  };
  const counter = new prom.Counter({ name, help, labelNames: [...labels], registers: [registry], collect });
  return {
    add(values, amount = 1) {
      requireAmount(name, amount);
      sets.of(values).pending += amount;
    },
    series(values) {
      const set = sets.of(values);
      return {
        add(amount = 1) {
          requireAmount(name, amount);
          set.pending += amount;
        },
      };
    },
  };
}

/** Histogram with a cap on its label sets. */
export function cappedHistogram(
  { buckets, ...shape }: MetricShape & { readonly buckets: readonly number[] },
  registry: prom.Registry,
): CappedHistogram {
  const { name } = shape;
  const sets = new LabelSets(shape, (values) => ({ labels: values, meter: new Meter(buckets) }));
  registerHistogram({ ...shape, buckets }, () => sets, registry);
  return {
    observe(values, value) {
      requireFinite(name, value);
      sets.of(values).meter.add(value);
    },
    series(values) {
      const { meter } = sets.of(values);
      return {
        observe(value) {
          requireFinite(name, value);
          meter.add(value);
        },
      };
    },
  };
}

/**
 * Entries by label set, up to a max number; the rest counts as `other`, so that made-up labels cannot fill
 * the memory.
 */
class LabelSets<Entry> implements Iterable<Entry> {
  readonly #name: string;
  readonly #labels: readonly string[];
  readonly #max: number;
  readonly #create: (values: Labels) => Entry;
  readonly #entries = new Map<string, Entry>();

  /** `create`: entry of a label set, which is a separate copy. */
  constructor({ name, labels, maxSets = maxLabelSets }: MetricShape, create: (values: Labels) => Entry) {
    this.#name = name;
    this.#labels = labels;
    this.#max = maxSets;
    this.#create = create;
  }

  /** Throws for a label that the metric does not have. */
  of(values: Labels): Entry {
    for (const label in values) if (!this.#labels.includes(label)) throw this.#unknown(label);
    let key = '';
    for (const label of this.#labels) key += `${values[label] ?? ''}\0`;
    return this.#entries.get(key) ?? this.#added(key, { ...values });
  }

  [Symbol.iterator](): Iterator<Entry> {
    return this.#entries.values();
  }

  #added(key: string, values: Labels): Entry {
    if (this.#entries.size >= this.#max) return this.#other();
    const entry = this.#create(values);
    this.#entries.set(key, entry);
    return entry;
  }

  /** Entry of all sets beyond the cap, under a key that no set has: theirs end with NUL. */
  #other(): Entry {
    const known = this.#entries.get('other');
    const entry = known ?? this.#create(Object.fromEntries(this.#labels.map((label) => [label, 'other'])));
    this.#entries.set('other', entry);
    return entry;
  }

  #unknown(label: string): TypeError {
    return new TypeError(`The metric "${this.#name}" has no label "${label}".`);
  }
}

const maxLabelSets = 10_000;

function requireAmount(name: string, amount: number): void {
  if (!Number.isFinite(amount) || amount < 0) throw cannotTake(name, amount);
}

function requireFinite(name: string, value: number): void {
  if (!Number.isFinite(value)) throw cannotTake(name, value);
}

function cannotTake(name: string, amount: number): RangeError {
  return new RangeError(`The metric "${name}" cannot take ${amount}.`);
}
