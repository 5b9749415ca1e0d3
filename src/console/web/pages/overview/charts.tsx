import { useMemo } from 'preact/hooks';
import type { Usage } from '../../api/types.js';
import { Chart } from '../../charts/chart.js';
import type { ChartData } from '../../charts/chart-data.js';
import { compact, count, duration } from '../../format/numbers.js';
import { bucketTime } from '../../format/times.js';
import type { Range } from './range.js';
import { chartsOf } from './usage-series.js';

interface ChartsProps {
  readonly report: Usage;
  readonly fromMs: number;
  readonly range: Range;
}

export function Charts({ report, fromMs, range }: ChartsProps) {
  const charts = useMemo(() => chartsOf(report, fromMs, range.buckets), [report, fromMs, range]);
  const { words } = range;
  return (
    <div class="charts">
      <ChartCard title="Requests" data={charts.requests} formatValue={compact} words={words} />
      <ChartCard title="Failed requests" data={charts.errors} formatValue={count} words={words} />
      <ChartCard title="Tokens, as billed" data={charts.tokens} formatValue={compact} words={words} />
      <ChartCard title="Time to first event" data={charts.firstEvent} formatValue={duration} words={words} />
    </div>
  );
}

interface ChartCardProps {
  readonly title: string;
  readonly data: ChartData;
  readonly formatValue: (value: number) => string;
  readonly words: string;
}

function ChartCard({ title, data, formatValue, words }: ChartCardProps) {
  const formatTime = (at: Date) => bucketTime(at, data.stepSeconds);
  return (
    <section class="card chart-card">
      <header class="card-head">
        <h2>{title}</h2>
      </header>
      <Chart
        data={data}
        label={`${title} over ${words}: ${inWords(data, formatValue)}`}
        formatValue={formatValue}
        formatTime={formatTime}
      />
      <Legend data={data} />
    </section>
  );
}

function Legend({ data }: { readonly data: ChartData }) {
  return (
    <ul class="legend">
      {data.series.map(({ label, colour }) => (
        <li key={label}>
          <span class="swatch" style={{ background: `var(${colour})` }} />
          <span class="name" title={label}>
            {label}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Text for screen readers: each series with its highest value. */
function inWords({ series }: ChartData, formatValue: (value: number) => string): string {
  const peaks = series.map(({ label, values }) => {
    const peak = Math.max(0, ...values.map((value) => value ?? 0));
    return `${label} up to ${formatValue(peak)}`;
  });
  return peaks.join(', ') || 'nothing';
}
