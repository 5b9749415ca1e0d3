import * as prom from 'prom-client';
import type { CacheStats, Metrics } from '../../plugin/core.js';
import {
  cappedCounter,
  cappedHistogram,
  type CappedCounter,
  type CappedHistogram,
} from './capped-metrics.js';
import { addProcessMetrics } from './process-metrics.js';

/** A gauge that is read when it is scraped. */
export interface Reading {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
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

/** Prometheus metrics; those about the process itself are collected from the first scrape on. */
export class PrometheusMetrics implements Metrics {
  readonly #registry = new prom.Registry();
  #hasProcessMetrics = false;
  /** Kind and labels by name. */
  readonly #shapes = new Map<string, string>();
  readonly #counters = new Map<string, CappedCounter>();
  readonly #histograms = new Map<string, CappedHistogram>();
  readonly #monotonicMs: () => number;
  readonly #caches = new Set<Cache>();

  /** `monotonicMs`: time that never goes back. */
  constructor(monotonicMs = () => performance.now()) {
    this.#monotonicMs = monotonicMs;
    const gauge = (name: string, help: string, field: keyof CacheStats) =>
      this.gauge(name, help, ['cache'], () => this.#fills(field));
    gauge(
      'gw2api_cache_entries',
      'Current number of entries of a cache, a queue or a similar structure in memory.',
      'entries',
    );
    gauge('gw2api_cache_capacity', 'Its capacity.', 'capacity');
  }

  /** Registers a counter, or returns the existing one: counts continue after a reload. */
  counter(name: string, help: string, labels: readonly string[]): CappedCounter {
    this.#claim('counter', name, labels);
    const counter = this.#counters.get(name) ?? cappedCounter({ name, help, labels }, this.#registry);
    this.#counters.set(name, counter);
    return counter;
  }

  /** Registers a histogram, or returns the existing one; beyond `maxSets` label sets it counts as `other`. */
  histogram(
    name: string,
    help: string,
    labels: readonly string[],
    buckets: readonly number[],
    { maxSets }: { readonly maxSets?: number } = {},
  ): CappedHistogram {
    this.#claim('histogram', name, labels);
    const shape = { name, help, labels, buckets, ...(maxSets !== undefined && { maxSets }) };
    const histogram = this.#histograms.get(name) ?? cappedHistogram(shape, this.#registry);
    this.#histograms.set(name, histogram);
    return histogram;
  }

  /**
   * Registers a gauge, whose values `read` returns at each scrape. The values of several processes are
   * summed, unless `across` is set.
   */
  gauge(
    name: string,
    help: string,
    labels: readonly string[],
    read: () => readonly Reading[] | Promise<readonly Reading[]>,
    { across = 'sum' }: { readonly across?: 'sum' | 'max' | 'min' } = {},
  ): void {
    const gauge = new prom.Gauge({
      name,
      help,
      labelNames: [...labels],
      registers: [this.#registry],
      aggregator: across,
      async collect() {
        const readings = await read();
        gauge.reset();
        for (const { labels: values, value } of readings) gauge.set(values, value);
      },
    });
  }

  /** Adds a metric of another kind to those of the registry. */
  register(make: (registry: prom.Registry) => unknown): void {
    make(this.#registry);
  }

  cache(name: string, read: () => CacheStats): () => void {
    const cache = { name, read };
    this.#caches.add(cache);
    return () => void this.#caches.delete(cache);
  }

  /** The text of `GET /metrics`. */
  text(): Promise<string> {
    return this.#withProcessMetrics().metrics();
  }

  /** Measurements of this process, as JSON; those about the process itself get its name as a label. */
  async measurements(worker: string): Promise<readonly Measurement[]> {
    const measured = measurementsIn(await this.#withProcessMetrics().getMetricsAsJSON());
    return measured.map((metric) => (isOfProcess(metric) ? labelled(metric, { worker }) : metric));
  }

  /** Measurements of this process of the metrics with these names. */
  async measurementsOf(names: readonly string[]): Promise<readonly Measurement[]> {
    const metrics = names.flatMap((name) => this.#registry.getSingleMetric(name) ?? []);
    return measurementsIn(await Promise.all(metrics.map((metric) => metric.get())));
  }

  /** Measurements of this process of its counters and histograms. */
  totals(): Promise<readonly Measurement[]> {
    return this.measurementsOf([...this.#counters.keys(), ...this.#histograms.keys()]);
  }

  /** The text of `GET /metrics` for several processes that serve together. */
  textOf(processes: readonly (readonly Measurement[])[]): Promise<string> {
    return prom.AggregatorRegistry.aggregate([...processes]).metrics();
  }

  #withProcessMetrics(): prom.Registry {
    if (this.#hasProcessMetrics) return this.#registry;
    addProcessMetrics(this.#registry, this.#monotonicMs);
    this.#hasProcessMetrics = true;
    return this.#registry;
  }

  /** Validated at registration, so that a bad metric fails its own plugin and not `/metrics`. */
  #claim(kind: string, name: string, labels: readonly string[]): void {
    if (!/^[a-zA-Z_:][\w:]*$/.test(name)) throw new Error(`"${name}" is not a valid metric name`);
    const wrong = labels.find((label) => !/^[a-zA-Z_]\w*$/.test(label));
    if (wrong !== undefined) throw new Error(`"${wrong}" is not a valid label for the metric "${name}"`);
    const shape = `${kind} with ${labels.join(', ') || 'no labels'}`;
    const known = this.#shapes.get(name) ?? shape;
    if (known !== shape) throw new Error(`a metric "${name}" already exists, a ${known}`);
    this.#shapes.set(name, shape);
  }

  /** Readings of the caches; those of one name are summed, like those of two pipelines during a reload. */
  #fills(field: keyof CacheStats): readonly Reading[] {
    const sums = new Map<string, number>();
    for (const { name, read } of this.#caches) sums.set(name, (sums.get(name) ?? 0) + read()[field]);
    return Array.from(sums, ([cache, value]) => ({ labels: { cache }, value }));
  }
}

/** True for metrics of the process itself, by prom-client's names: memory, event loop, CPU. */
function isOfProcess({ name }: Measurement): boolean {
  return /^(?:process|nodejs)_/.test(name);
}

/** Metrics as prom-client returns them, whose type says `type: number`; at run time it is a string. */
function measurementsIn(metrics: readonly object[]): readonly Measurement[] {
  return metrics as readonly Measurement[]; // what `get` returns
}

/** Adds labels to a metric. With a label for each process nothing is summed. */
function labelled(metric: Measurement, labels: Readonly<Record<string, string>>): Measurement {
  const values = metric.values.map((value) => ({ ...value, labels: { ...value.labels, ...labels } }));
  return { ...metric, values, aggregator: 'first' };
}
