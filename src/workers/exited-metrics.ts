import type { Measurement } from '../telemetry/metrics.js';

/** What is left of the counts of workers that have gone: a total must not fall because one of them has died. */
export class ExitedMetrics {
  readonly #metrics = new Map<string, Measurement>();

  add(measured: readonly Measurement[]): void {
    for (const metric of measured)
      if (isLasting(metric)) this.#metrics.set(metric.name, sumOf(this.#metrics.get(metric.name), metric));
  }

  get measurements(): readonly Measurement[] {
    return [...this.#metrics.values()];
  }
}

/** A gauge goes with the process, and so does what is told of the process itself. */
function isLasting({ name, type }: Measurement): boolean {
  return (type === 'counter' || type === 'histogram') && !/^(?:process|nodejs)_/.test(name);
}

function sumOf(one: Measurement | undefined, other: Measurement): Measurement {
  const values = new Map<string, Measurement['values'][number]>();
  for (const each of [...(one?.values ?? []), ...other.values]) {
    const key = JSON.stringify([each.metricName, labelsOf(each)]);
    values.set(key, { ...each, value: each.value + (values.get(key)?.value ?? 0) });
  }
  return { ...other, values: [...values.values()] };
}

/** The same for the same labels, in whatever order they come. */
function labelsOf({ labels }: Measurement['values'][number]): readonly unknown[] {
  const names = Object.keys(labels).toSorted((a, b) => a.localeCompare(b));
  return names.map((name) => [name, labels[name]]);
}
