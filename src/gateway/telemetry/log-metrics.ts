import * as prom from 'prom-client';
import type { PrometheusMetrics } from './metrics.js';
import { droppedLogLines } from './standard-output.js';

/** Adds the counter of log lines that this process has dropped, from any gateway in it. */
export function measureLog(metrics: PrometheusMetrics): void {
  metrics.register(
    (registry) =>
      new prom.Counter({
        name: 'gw2api_log_lines_dropped_total',
        help: 'Log lines that were dropped because nobody read standard output.',
        labelNames: ['level'],
        registers: [registry],
        collect() {
          this.reset();
          for (const [level, count] of droppedLogLines()) this.inc({ level }, count);
        },
      }),
  );
}
