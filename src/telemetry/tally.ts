type Labels = Readonly<Record<string, string>>;

/** One line of what Prometheus is told. */
interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** What prom-client asks of a metric when it prints it. */
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
 * A metric that prom-client prints, counted here: to count with its own classes it would have to be loaded at the start,
 * which takes 30 ms.
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

  /** What has too many labels to be told apart counts together: what callers make up must not fill the memory. */
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
  /** How many fell into each bucket alone; the last one has what is above all. */
  readonly counts: number[];
}

export class HistogramTally extends Tally<Distribution> {
  readonly #buckets: readonly number[];

  /** `buckets`: their upper bounds, from the least to the greatest. */
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
