import type * as Prom from 'prom-client';
import type { Counter, Histogram, Metrics } from '../plugin/index.js';

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
  /** Of what several processes have read: the sum, or the largest, where they all read the same. */
  readonly across: 'sum' | 'max';
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

/**
 * Prometheus metrics. Loading prom-client takes longer than serving a request, so that the first counts wait in a list
 * until somebody scrapes, or there are many.
 */
export class PrometheusMetrics implements Metrics {
  #prom: LoadedProm | undefined;
  readonly #waiting: ((prom: LoadedProm) => void)[] = [];
  /** Kind and labels by name. */
  readonly #shapes = new Map<string, string>();
  readonly #counters = new Map<string, Prom.Counter>();
  readonly #histograms = new Map<string, Prom.Histogram>();
  readonly #gauges: Gauge[] = [];

  counter(name: string, help: string, labels: readonly string[]): Counter {
    this.#claim('counter', name, labels);
    return {
      add: (values, amount = 1) => {
        check({ name, labels }, values, amount, 0);
        this.#later(({ client, registry }) => {
          const make = () =>
            new client.Counter({ name, help, labelNames: [...labels], registers: [registry] });
          getOrMake(this.#counters, name, make).inc(values, amount);
        });
      },
    };
  }

  histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): Histogram {
    this.#claim('histogram', name, labels);
    return {
      observe: (values, value) => {
        check({ name, labels }, values, value);
        this.#later(({ client, registry }) => {
          const options = {
            name,
            help,
            labelNames: [...labels],
            buckets: [...buckets],
            registers: [registry],
          };
          getOrMake(this.#histograms, name, () => new client.Histogram(options)).observe(values, value);
        });
      },
    };
  }

  /**
   * Registers a gauge whose values `read` gives at each scrape. What several processes that serve together have read is
   * added up, unless `across` says otherwise.
   */
  gauge(
    name: string,
    help: string,
    labels: readonly string[],
    read: () => readonly Reading[],
    { across = 'sum' }: { readonly across?: Gauge['across'] } = {},
  ): void {
    this.#gauges.push({ name, help, labels, read, across });
  }

  /** The text of `GET /metrics`. */
  async text(): Promise<string> {
    const { registry } = await this.#load();
    return registry.metrics();
  }

  /** What this process has measured, as JSON; what is about the process itself is labelled with the name of it. */
  async measurements(worker: string): Promise<readonly Measurement[]> {
    const { registry } = await this.#load();
    // Its declaration has numbers for the types, which are words.
    const measured = (await registry.getMetricsAsJSON()) as unknown as readonly Measurement[];
    return measured.map((metric) => (isOfProcess(metric) ? labelled(metric, { worker }) : metric));
  }

  /** The text of `GET /metrics` for several processes that serve together. */
  async textOf(processes: readonly (readonly Measurement[])[]): Promise<string> {
    const { client } = await this.#load();
    return client.AggregatorRegistry.aggregate([...processes]).metrics();
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

  #later(record: (prom: LoadedProm) => void): void {
    if (this.#prom) record(this.#prom);
    else if (this.#waiting.push(record) === mostWaiting) void this.#load();
  }

  /** Loads prom-client and makes up for what was counted before; later calls give the same registry. */
  async #load(): Promise<LoadedProm> {
    const client = await import('prom-client');
    if (this.#prom) return this.#prom;
    const registry = new client.Registry();
    this.#prom = { client, registry };
    client.collectDefaultMetrics({ register: registry });
    for (const gauge of this.#gauges) registerGauge(client, registry, gauge);
    for (const record of this.#waiting.splice(0)) record(this.#prom);
    return this.#prom;
  }
}

interface LoadedProm {
  readonly client: typeof Prom;
  readonly registry: Prom.Registry;
}

/** Where so many wait and nobody has scraped yet, prom-client is loaded for them. */
const mostWaiting = 1000;

function check(
  { name, labels }: { readonly name: string; readonly labels: readonly string[] },
  values: Readonly<Record<string, string>>,
  amount: number,
  least = -Infinity,
): void {
  if (!Number.isFinite(amount) || amount < least)
    throw new RangeError(`The metric "${name}" cannot take ${amount}.`);
  for (const label in values)
    if (!labels.includes(label)) throw new TypeError(`The metric "${name}" has no label "${label}".`);
}

function getOrMake<T>(known: Map<string, T>, name: string, make: () => T): T {
  const existing = known.get(name);
  if (existing) return existing;
  const made = make();
  known.set(name, made);
  return made;
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
    collect() {
      gauge.reset();
      for (const { labels: values, value } of read()) gauge.set(values, value);
    },
  });
}

/** Memory, event loop and the like, by prom-client's names. */
function isOfProcess({ name }: Measurement): boolean {
  return /^(?:process|nodejs)_/.test(name);
}

/** With a label of its own no process has anything to be added to. */
function labelled(metric: Measurement, labels: Readonly<Record<string, string>>): Measurement {
  const values = metric.values.map((value) => ({ ...value, labels: { ...value.labels, ...labels } }));
  return { ...metric, values, aggregator: 'first' };
}
