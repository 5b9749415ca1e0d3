import { useState } from 'preact/hooks';
import { Chart } from '../../../console/web/charts/chart.js';
import type { ChartData } from '../../../console/web/charts/chart-data.js';

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

interface HitCardProps {
  readonly data: ChartData;
  /** The span in words, for screen readers. */
  readonly words: string;
}

/** Chart of the hit ratio, with a legend whose entries hide and show their lines. */
export function HitCard({ data, words }: HitCardProps) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const series = data.series.filter(({ label }) => !hidden.has(label));
  return (
    <section class="card chart-card">
      <header class="card-head">
        <h2>Hit ratio: input read from the cache</h2>
      </header>
      <Chart
        data={{ ...data, series }}
        label={`Hit ratio over ${words}: ${series.map(({ label }) => label).join(', ') || 'nothing'}`}
        formatValue={(value) => `${value.toFixed(0)} %`}
        formatTime={(at) => (data.stepSeconds < 21_600 ? clock : day).format(at)}
      />
      <ul class="legend">
        {data.series.map(({ label, colour }) => (
          <li key={label}>
            <button
              type="button"
              class="legend-button"
              aria-pressed={!hidden.has(label)}
              onClick={() => setHidden(toggled(hidden, label))}
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

function toggled(hidden: ReadonlySet<string>, label: string): ReadonlySet<string> {
  const next = new Set(hidden);
  if (!next.delete(label)) next.add(label);
  return next;
}
