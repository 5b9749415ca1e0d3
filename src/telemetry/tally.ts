type Labels = Readonly<Record<string, string>>;

/** One sample in the Prometheus output. */
interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** Metric in the shape that prom-client prints. */
export interface Printed {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'histogram';
  readonly aggregator: 'sum';
  readonly values: readonly Sample[];
}

export interface Shape {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/**
 * Metric that prom-client prints but that is counted here, so that prom-client is not loaded at the start.
 */
abstract class Tally<Cell> {
  readonly name: string;
  readonly #shape: Shape;
  readonly #cells = new Map<string, { readonly labels: Labels; readonly cell: Cell }>();

  constructor(shape: Shape) {
    this.name = shape.name;
    this.#shape = shape;
  }

  abstract get(): Printed;

  /** The cell for these labels. Throws for one that the metric does not have. */
  protected cell(labels: Labels, make: () => Cell): Cell {
    const key = this.#keyOf(labels);
    const known = this.#cells.get(key);
    if (known) return known.cell;
    return this.#cells.size < mostCells ? this.#add(key, { ...labels }, make()) : this.#overflow(make);
  }

  #add(key: string, labels: Labels, cell: Cell): Cell {
    this.#cells.set(key, { labels, cell });
    return cell;
  }

  /**
   * Overflow cell: beyond the max number of label sets the rest counts as `other`, so that made-up labels
   * cannot fill the memory.
   */
  #overflow(make: () => Cell): Cell {
    const labels = Object.fromEntries(this.#shape.labels.map((label) => [label, 'other']));
    const key = this.#keyOf(labels);
    return this.#cells.get(key)?.cell ?? this.#add(key, labels, make());
  }

  protected printed(type: Printed['type'], samples: (labels: Labels, cell: Cell) => Sample[]): Printed {
    const { name, help } = this.#shape;
    const values = [...this.#cells.values()].flatMap(({ labels, cell }) => samples(labels, cell));
    return { name, help, type, aggregator: 'sum', values };
  }

  #keyOf(values: Labels): string {
    const { name, labels } = this.#shape;
    for (const label in values)
      if (!labels.includes(label)) throw new TypeError(`The metric "${name}" has no label "${label}".`);
    let key = '';
    for (const label of labels) key += `${values[label] ?? ''}\0`;
    return key;
  }
}

const mostCells = 10_000;

export class CounterTally extends Tally<{ sum: number }> {
  add(labels: Labels, amount = 1): void {
    if (!Number.isFinite(amount) || amount < 0) throw cannotTake(this.name, amount);
    this.cell(labels, zero).sum += amount;
  }

  get(): Printed {
    return this.printed('counter', (labels, { sum }) => [{ labels, value: sum }]);
  }
}

function zero() {
  return { sum: 0 };
}

interface Distribution {
  sum: number;
  /** Count of each bucket alone; the last one is for values above all bounds. */
  readonly counts: number[];
}

export class HistogramTally extends Tally<Distribution> {
  readonly #buckets: readonly number[];

  /** `buckets`: upper bounds in ascending order. */
  constructor(shape: Shape, buckets: readonly number[]) {
    super(shape);
    this.#buckets = buckets;
  }

  observe(labels: Labels, value: number): void {
    if (!Number.isFinite(value)) throw cannotTake(this.name, value);
    const cell = this.cell(labels, this.#empty);
    const at = this.#buckets.findIndex((bound) => value <= bound);
    const bucket = at === -1 ? this.#buckets.length : at;
    cell.counts[bucket] = (cell.counts[bucket] ?? 0) + 1;
    cell.sum += value;
  }

  get(): Printed {
    const { name } = this;
    return this.printed('histogram', (labels, { sum, counts }) => {
      let count = 0;
      const buckets = [...this.#buckets, '+Inf'].map((le, at) => {
        count += counts[at] ?? 0;
        return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ];
    });
  }

  readonly #empty = (): Distribution => ({ sum: 0, counts: this.#buckets.map(() => 0).concat(0) });
}

function cannotTake(name: string, amount: number): RangeError {
  return new RangeError(`The metric "${name}" cannot take ${amount}.`);
}
