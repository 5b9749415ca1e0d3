import type { Measurement } from '../../gateway/telemetry/metrics.js';

/** Metric totals of exited workers, kept so that a counter does not fall when a worker dies. */
export class ExitedMetrics {
  readonly #metrics = new Map<string, Measurement>();

  add(measured: readonly Measurement[]): void {
    for (const metric of measured)
      if (isCumulative(metric)) this.#metrics.set(metric.name, sumOf(this.#metrics.get(metric.name), metric));
  }

  get measurements(): readonly Measurement[] {
    return [...this.#metrics.values()];
  }
}

/** True for counters and histograms; gauges and metrics of the process itself end with the worker. */
function isCumulative({ name, type }: Measurement): boolean {
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

/** Label entries sorted by name, so that equal labels compare equal in any order. */
function labelsOf({ labels }: Measurement['values'][number]): readonly unknown[] {
  const names = Object.keys(labels).toSorted((a, b) => a.localeCompare(b));
  return names.map((name) => [name, labels[name]]);
}
