import type * as Prom from 'prom-client';
import type { CacheStats, Counter, Histogram, Metrics } from '../plugin/index.js';
import { CounterTally, HistogramTally } from './tally.js';

/** A gauge that is read when it is scraped. */
export interface Reading {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly read: () => readonly Reading[] | Promise<readonly Reading[]>;
  /** Aggregation over several processes: the sum, or the max if all read the same value. */
  readonly across: 'sum' | 'max';
}

interface Cache {
  readonly name: string;
  readonly read: () => CacheStats;
}

/** One metric as prom-client writes it to JSON. */
export interface Measurement {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregator: string;
  readonly values: readonly {
    readonly value: number;
    readonly labels: Readonly<Record<string, string | number | undefined>>;
    readonly metricName?: string;
  }[];
}

/** Prometheus metrics, counted here; prom-client only prints them and is loaded at the first scrape. */
export class PrometheusMetrics implements Metrics {
  #registry: Promise<Prom.Registry> | undefined;
  /** Kind and labels by name. */
  readonly #shapes = new Map<string, string>();
  readonly #tallies = new Map<string, CounterTally | HistogramTally>();
  readonly #gauges: Gauge[] = [];
  readonly #caches = new Set<Cache>();

  constructor() {
    const gauge = (name: string, help: string, field: keyof CacheStats) =>
      this.gauge(name, help, ['cache'], () => this.#fills(field));
    gauge(
      'gw2api_cache_entries',
      'What a cache, a queue or the like in memory has at the moment.',
      'entries',
    );
    gauge('gw2api_cache_capacity', 'The most that it can have.', 'capacity');
  }

  counter(name: string, help: string, labels: readonly string[]): Counter {
    this.#claim('counter', name, labels);
    return this.#tally(name, CounterTally, () => new CounterTally({ name, help, labels }));
  }

  histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): Histogram {
    this.#claim('histogram', name, labels);
    return this.#tally(name, HistogramTally, () => new HistogramTally({ name, help, labels }, buckets));
  }

  /**
   * Registers a gauge, whose values `read` returns at each scrape. The values of several processes are
   * summed, unless `across` is set.
   */
  gauge(
    name: string,
    help: string,
    labels: readonly string[],
    read: Gauge['read'],
    { across = 'sum' }: { readonly across?: Gauge['across'] } = {},
  ): void {
    this.#gauges.push({ name, help, labels, read, across });
  }

  cache(name: string, read: () => CacheStats): () => void {
    const cache = { name, read };
    this.#caches.add(cache);
    return () => void this.#caches.delete(cache);
  }

  /** The text of `GET /metrics`. */
  async text(): Promise<string> {
    const registry = await this.#complete();
    return registry.metrics();
  }

  /** Measurements of this process, as JSON; those about the process itself get its name as a label. */
  async measurements(worker: string): Promise<readonly Measurement[]> {
    const registry = await this.#complete();
    // Its declaration has numbers for the types, which are words.
    const measured = (await registry.getMetricsAsJSON()) as unknown as readonly Measurement[];
    return measured.map((metric) => (isOfProcess(metric) ? labelled(metric, { worker }) : metric));
  }

  /** The text of `GET /metrics` for several processes that serve together. */
  async textOf(processes: readonly (readonly Measurement[])[]): Promise<string> {
    const { AggregatorRegistry } = await import('prom-client');
    return AggregatorRegistry.aggregate([...processes]).metrics();
  }

  async #complete(): Promise<Prom.Registry> {
    this.#registry ??= this.#load();
    const registry = await this.#registry;
    for (const [name, tally] of this.#tallies) {
      if (!registry.getSingleMetric(name)) registry.registerMetric(tally as unknown as Prom.Metric); // it can print it
    }
    return registry;
  }

  /** Validated at registration, so that a bad metric fails its own plugin and not `/metrics`. */
  #claim(kind: string, name: string, labels: readonly string[]): void {
    if (!/^[a-zA-Z_:][\w:]*$/.test(name)) throw new Error(`"${name}" is no name for a metric`);
    const wrong = labels.find((label) => !/^[a-zA-Z_]\w*$/.test(label));
    if (wrong !== undefined) throw new Error(`"${wrong}" is no label for the metric "${name}"`);
    const shape = `${kind} with ${labels.join(', ') || 'no labels'}`;
    const known = this.#shapes.get(name) ?? shape;
    if (known !== shape) throw new Error(`there is a metric "${name}" already, a ${known}`);
    this.#shapes.set(name, shape);
  }

  /** Registers a counter or histogram, or returns the existing one: counts continue after a reload. */
  #tally<Kind extends CounterTally | HistogramTally>(
    name: string,
    kind: abstract new (...parts: never) => Kind,
    make: () => Kind,
  ): Kind {
    const known = this.#tallies.get(name);
    if (known instanceof kind) return known;
    const made = make();
    this.#tallies.set(name, made);
    return made;
  }

  /** Readings of the caches; those of one name are summed, like those of two pipelines during a reload. */
  #fills(field: keyof CacheStats): readonly Reading[] {
    const sums = new Map<string, number>();
    for (const { name, read } of this.#caches) sums.set(name, (sums.get(name) ?? 0) + read()[field]);
    return Array.from(sums, ([cache, value]) => ({ labels: { cache }, value }));
  }

  async #load(): Promise<Prom.Registry> {
    const client = await import('prom-client');
    const registry = new client.Registry();
    client.collectDefaultMetrics({ register: registry });
    for (const gauge of this.#gauges) registerGauge(client, registry, gauge);
    return registry;
  }
}

function registerGauge(
  client: typeof Prom,
  registry: Prom.Registry,
  { name, help, labels, read, across }: Gauge,
): void {
  const gauge = new client.Gauge({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    aggregator: across,
    async collect() {
      const readings = await read();
      gauge.reset();
      for (const { labels: values, value } of readings) gauge.set(values, value);
    },
  });
}

/** True for metrics of the process itself, by prom-client's names: memory, event loop, CPU. */
function isOfProcess({ name }: Measurement): boolean {
  return /^(?:process|nodejs)_/.test(name);
}

/** Adds labels to a metric. With a label for each process there is nothing to sum. */
function labelled(metric: Measurement, labels: Readonly<Record<string, string>>): Measurement {
  const values = metric.values.map((value) => ({ ...value, labels: { ...value.labels, ...labels } }));
  return { ...metric, values, aggregator: 'first' };
}
