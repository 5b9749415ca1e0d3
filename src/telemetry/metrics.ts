import type * as Prom from 'prom-client';
import type { Counter, Histogram, Metrics } from '../plugin/index.js';
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
  readonly read: () => readonly Reading[];
}

/** Prometheus metrics. They are counted here; prom-client, which prints them, is loaded at the first scrape. */
export class PrometheusMetrics implements Metrics {
  #registry: Promise<Prom.Registry> | undefined;
  /** Kind and labels by name. */
  readonly #shapes = new Map<string, string>();
  readonly #tallies = new Map<string, CounterTally | HistogramTally>();
  readonly #gauges: Gauge[] = [];

  counter(name: string, help: string, labels: readonly string[]): Counter {
    this.#claim('counter', name, labels);
    return this.#tally(name, CounterTally, () => new CounterTally({ name, help, labels }));
  }

  histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): Histogram {
    this.#claim('histogram', name, labels);
    return this.#tally(name, HistogramTally, () => new HistogramTally({ name, help, labels }, buckets));
  }

  /** Registers a gauge whose values `read` gives at each scrape. */
  gauge(name: string, help: string, labels: readonly string[], read: () => readonly Reading[]): void {
    this.#gauges.push({ name, help, labels, read });
  }

  /** The text of `GET /metrics`. */
  async text(): Promise<string> {
    this.#registry ??= this.#load();
    const registry = await this.#registry;
    for (const [name, tally] of this.#tallies) {
      if (!registry.getSingleMetric(name)) registry.registerMetric(tally as unknown as Prom.Metric); // it can print it
    }
    return registry.metrics();
  }

  /** What is wrong is said where a metric is made: at its first scrape it would be everybody's trouble. */
  #claim(kind: string, name: string, labels: readonly string[]): void {
    if (!/^[a-zA-Z_:][\w:]*$/.test(name)) throw new Error(`"${name}" is no name for a metric`);
    const wrong = labels.find((label) => !/^[a-zA-Z_]\w*$/.test(label));
    if (wrong !== undefined) throw new Error(`"${wrong}" is no label for the metric "${name}"`);
    const shape = `${kind} with ${labels.join(', ') || 'no labels'}`;
    const known = this.#shapes.get(name) ?? shape;
    if (known !== shape) throw new Error(`there is a metric "${name}" already, a ${known}`);
    this.#shapes.set(name, shape);
  }

  /** What a pipeline has counted goes on in the next one. */
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
  { name, help, labels, read }: Gauge,
): void {
  const gauge = new client.Gauge({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    collect() {
      gauge.reset();
      for (const { labels: values, value } of read()) gauge.set(values, value);
    },
  });
}
