import * as prom from 'prom-client';
import type { Counter, Histogram } from '../plugin/internal.js';

type Labels = Readonly<Record<string, string>>;

export interface MetricShape {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** Counter of prom-client with a cap on its label sets. */
export function cappedCounter({ name, help, labels }: MetricShape, registry: prom.Registry): Counter {
  const counter = new prom.Counter({ name, help, labelNames: [...labels], registers: [registry] });
  const admitted = cap({ name, labels });
  return {
    add(values, amount = 1) {
      if (!Number.isFinite(amount) || amount < 0) throw cannotTake(name, amount);
      counter.inc(admitted(values), amount);
    },
  };
}

/** Histogram of prom-client with a cap on its label sets. */
export function cappedHistogram(
  { name, help, labels, buckets }: MetricShape & { readonly buckets: readonly number[] },
  registry: prom.Registry,
): Histogram {
  const shape = { name, help, labelNames: [...labels], buckets: [...buckets] };
  const histogram = new prom.Histogram({ ...shape, registers: [registry] });
  const admitted = cap({ name, labels });
  return {
    observe(values, value) {
      if (!Number.isFinite(value)) throw cannotTake(name, value);
      histogram.observe(admitted(values), value);
    },
  };
}

/**
 * Admits label sets up to a max number; the rest counts as `other`, so that made-up labels cannot fill the
 * memory. Throws for a label that the metric does not have.
 */
function cap({ name, labels }: Pick<MetricShape, 'name' | 'labels'>): (values: Labels) => Labels {
  const known = new Set<string>();
  const other = Object.fromEntries(labels.map((label) => [label, 'other']));
  return (values) => {
    for (const label in values)
      if (!labels.includes(label)) throw new TypeError(`The metric "${name}" has no label "${label}".`);
    let key = '';
    for (const label of labels) key += `${values[label] ?? ''}\0`;
    if (known.has(key)) return values;
    if (known.size >= maxLabelSets) return other;
    known.add(key);
    return { ...values }; // prom-client keeps the first object of a label set
  };
}

const maxLabelSets = 10_000;

function cannotTake(name: string, amount: number): RangeError {
  return new RangeError(`The metric "${name}" cannot take ${amount}.`);
}
