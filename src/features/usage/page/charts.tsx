import { useMemo, useState } from 'preact/hooks';
import type { Usage } from '../../../console/web/api/ledger.js';
import { ChartCard } from '../../../console/web/charts/chart-card.js';
import type { ChartData } from '../../../console/web/charts/chart-data.js';
import { compact, count, duration } from '../../../console/web/format/numbers.js';
import { usd } from '../../../console/web/format/usd.js';
import type { Span } from '../../../console/web/scope/range.js';
import { chartsOf } from './usage-series.js';

interface ChartsProps {
  readonly report: Usage;
  readonly span: Span;
  readonly words: string;
}

/** Charts of a report. Split by a group, a series that is hidden in one of them is hidden in all. */
export function Charts({ report, span, words }: ChartsProps) {
  const charts = useMemo(() => chartsOf(report, span), [report, span]);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const isShared = report.by !== null;
  const card = (title: string, data: ChartData, formatValue: (value: number) => string) => {
    const placeOf = (label: string) => (isShared ? label : `${title}: ${label}`);
    return (
      <ChartCard
        title={title}
        data={data}
        words={words}
        formatValue={formatValue}
        isHidden={(label) => hidden.has(placeOf(label))}
        onToggle={(label) => setHidden((last) => toggled(last, placeOf(label)))}
      />
    );
  };
  return (
    <div class="charts">
      {card('Requests', charts.requests, compact)}
      {card('Failed requests', charts.errors, count)}
      {card('Tokens, as billed', charts.tokens, compact)}
      {charts.cost && card('Cost, as billed', charts.cost, usd)}
      {card(isShared ? 'Time to first event' : 'Time to first token', charts.firstEvent, duration)}
      {charts.perToken && card('Time per output token', charts.perToken, duration)}
    </div>
  );
}

function toggled(hidden: ReadonlySet<string>, place: string): ReadonlySet<string> {
  const next = new Set(hidden);
  if (!next.delete(place)) next.add(place);
  return next;
}
