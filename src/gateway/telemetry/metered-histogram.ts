import * as prom from 'prom-client';

/** Values of one label set of a histogram, counted in an array. */
export class Meter {
  readonly #bounds: readonly number[];
  /** Number of values up to each bound, and above all of them. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  add(value: number): void {
    this.sum += value;
    let at = 0;
    for (const bound of this.#bounds) {
      if (value <= bound) break;
      at += 1;
    }
    this.counts[at] = (this.counts[at] ?? 0) + 1;
  }
}

interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
  readonly meter: Meter;
}

interface HistogramShape {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets: readonly number[];
}

type Measured = Awaited<ReturnType<prom.Histogram['get']>>;

/** Adds a histogram that reads its values from meters when it is scraped: adding a value costs no look-up of labels. */
export function registerHistogram(
  { name, help, labels, buckets }: HistogramShape,
  meters: () => Iterable<Labelled>,
  registry: prom.Registry,
): void {
  const bounds = [...buckets];
  void new prom.Histogram({ name, help, labelNames: [...labels], buckets: bounds, registers: [] }); // checks the names
  const get = async (): Promise<Measured> => {
    const values = [...meters()].flatMap((one) => valuesOf(name, bounds, one));
    // Its declaration has a `collect`, which prom-client leaves out.
    return { name, help, type: histogram, aggregator: 'sum', values } as Measured;
  };
  registry.registerMetric({ name, get } as unknown as prom.Metric); // all that a registry reads of a metric
}

const histogram = 'histogram' as unknown as prom.MetricType; // its declaration has numbers for the words

function valuesOf(name: string, bounds: readonly number[], { labels, meter }: Labelled) {
  let total = 0;
  const buckets = [...meter.counts].map((count, at) => {
    total += count;
    return { labels: { le: bounds[at] ?? '+Inf', ...labels }, value: total, metricName: `${name}_bucket` };
  });
  return [
    ...buckets,
    { labels, value: meter.sum, metricName: `${name}_sum` },
    { labels, value: total, metricName: `${name}_count` },
  ];
}
