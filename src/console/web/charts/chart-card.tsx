import { useMemo } from 'preact/hooks';
import { bucketTime } from '../format/times.js';
import { Chart } from './chart.js';
import type { ChartData } from './chart-data.js';

interface ChartCardProps {
  readonly title: string;
  readonly data: ChartData;
  /** The range in words, for screen readers. */
  readonly words: string;
  readonly formatValue: (value: number) => string;
  readonly isHidden: (label: string) => boolean;
  readonly onToggle: (label: string) => void;
}

/** A chart with its title, and a legend whose entries hide and show their series. */
export function ChartCard({ title, data, words, formatValue, isHidden, onToggle }: ChartCardProps) {
  const spanSeconds = data.stepSeconds * data.times.length;
  const formatTime = (at: Date) => bucketTime(at, data.stepSeconds, spanSeconds);
  const shownKey = data.series.map(({ label }) => Number(isHidden(label))).join('');
  const shown = useMemo(
    () => ({ ...data, series: data.series.filter(({ label }) => !isHidden(label)) }),
    [data, shownKey],
  );
  return (
    <section class="card chart-card">
      <header class="card-head">
        <h2>{title}</h2>
      </header>
      <Chart
        data={shown}
        label={`${title} over ${words}: ${peaksText(shown, formatValue)}`}
        formatValue={formatValue}
        formatTime={formatTime}
      />
      <ul class="legend">
        {data.series.map(({ label, colour }) => (
          <li key={label}>
            <button
              type="button"
              aria-pressed={!isHidden(label)}
              title={isHidden(label) ? `Show ${label}` : `Hide ${label}`}
              onClick={() => onToggle(label)}
            >
              <span class="swatch" style={{ background: `var(${colour})` }} />
              <span class="name">{label}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Text for screen readers: each series with its highest value. */
function peaksText({ series }: ChartData, formatValue: (value: number) => string): string {
  const peaks = series.map(({ label, values }) => {
    const peak = Math.max(0, ...values.map((value) => value ?? 0));
    return `${label} up to ${formatValue(peak)}`;
  });
  return peaks.join(', ') || 'nothing';
}
