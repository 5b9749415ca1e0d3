import { count, duration } from '../../../console/web/format/numbers.js';
import type { Stage } from './api.js';

/** A stage's own time since the start of the gateway, and what went wrong in it. */
export function StageFigures({ times }: { readonly times: Stage['times'] }) {
  const { count: requests, p50_ms: p50, p95_ms: p95, faults, skips } = times;
  if (requests === 0 && faults === 0 && skips === 0)
    return <p class="stage-when dim">No request has come to it since the start.</p>;
  return (
    <dl class="stage-times" aria-label="Its own time since the start">
      <Figure
        name="time p50"
        title="Half of the requests took no longer in this stage"
        value={timeText(p50)}
      />
      <Figure
        name="time p95"
        title="95 % of the requests took no longer in this stage"
        value={timeText(p95)}
      />
      <Figure name="requests" title="Requests that have passed it" value={count(requests)} />
      <Figure name="faults" title="Requests that it has failed" value={count(faults)} isBad={faults > 0} />
      <Figure
        name="skips"
        title="Requests that went on without it, where it had failed"
        value={count(skips)}
        isBad={skips > 0}
      />
    </dl>
  );
}

/** The first and the last bucket of the histogram tell no more than their bound. */
function timeText(ms: number | null): string {
  if (ms === null) return '–';
  if (ms <= 0.1) return '< 0.1 ms';
  return ms >= 60_000 ? '≥ 60 s' : duration(ms);
}

interface FigureProps {
  readonly name: string;
  readonly title: string;
  readonly value: string;
  readonly isBad?: boolean;
}

function Figure({ name, title, value, isBad = false }: FigureProps) {
  return (
    <div title={title}>
      <dt>{name}</dt>
      <dd class={isBad ? 'num stage-bad' : 'num'}>{value}</dd>
    </div>
  );
}
