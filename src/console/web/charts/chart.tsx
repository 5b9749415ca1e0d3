import { useEffect, useRef, useState } from 'preact/hooks';
import { ConsoleError } from '../api/call.js';
import { useStore } from '../state/store.js';
import { theme } from '../state/theme.js';
import { Problem } from '../ui/problem.js';
import { seriesAt, type ChartData, type Pointed } from './chart-data.js';
import type { Plot } from './plot.js';

interface ChartProps {
  readonly data: ChartData;
  /** Description for screen readers. */
  readonly label: string;
  readonly formatValue: (value: number) => string;
  readonly formatTime: (at: Date) => string;
}

/** A chart of fixed height; its drawing code is loaded with the first chart. */
export function Chart(props: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const [isMissing, setMissing] = useState(false);
  const { data, label, formatValue, formatTime } = props;
  usePlot(host, props, { onPoint: setPointed, onMissing: () => setMissing(true) });
  if (isMissing)
    return <Problem error={missingScript} retryText="Reload the page" onRetry={() => location.reload()} />;
  return (
    <div class="chart">
      <div class="chart-plot" ref={host} role="img" aria-label={label} />
      {pointed && <Tooltip data={data} pointed={pointed} formatValue={formatValue} formatTime={formatTime} />}
    </div>
  );
}

/** Error if the drawing code does not load; an upgrade of the gateway replaces the scripts of an open page. */
const missingScript = new ConsoleError(
  0,
  'missing_script',
  'The gateway may have been upgraded since this page was opened.',
);

interface PlotEvents {
  readonly onPoint: (pointed: Pointed | null) => void;
  /** Called if the drawing code cannot be loaded. */
  readonly onMissing: () => void;
}

function usePlot(
  host: { readonly current: HTMLElement | null },
  { data, formatValue, formatTime }: ChartProps,
  { onPoint, onMissing }: PlotEvents,
): void {
  const shownTheme = useStore(theme);
  useEffect(() => {
    const { current } = host;
    if (!current) return undefined;
    let plot: Plot | undefined;
    let isGone = false;
    const draw = async () => {
      const loaded = await import('./plot.js').catch(() => undefined); // the browser logs why
      if (isGone) return;
      if (loaded) plot = loaded.drawPlot({ data, host: current, formatValue, formatTime, onPoint });
      else onMissing();
    };
    void draw();
    const observer = new ResizeObserver(() => plot?.resize());
    observer.observe(current);
    return () => {
      isGone = true;
      observer.disconnect();
      plot?.destroy();
      onPoint(null);
    };
  }, [data, shownTheme]);
}

interface TooltipProps extends Omit<ChartProps, 'label'> {
  readonly pointed: Pointed;
}

function Tooltip({ data, pointed, formatValue, formatTime }: TooltipProps) {
  const { index, left, width } = pointed;
  const at = data.times[index];
  const rows = seriesAt(data, index);
  if (at === undefined) return null;
  const isOpen = isAfter((at + data.stepSeconds) * 1000);
  const side = left > width / 2 ? { right: `${width - left + 14}px` } : { left: `${left + 14}px` };
  return (
    <div class="chart-tip" style={side} aria-hidden="true">
      <p>
        {formatTime(new Date(at * 1000))}
        {isOpen && <span class="dim">so far</span>}
      </p>
      {rows.length === 0 && <p class="dim">{data.kind === 'bars' ? 'none' : 'no value'}</p>}
      {rows.toReversed().map(({ label, colour, values }) => (
        <p key={label}>
          <span class="swatch" style={{ background: `var(${colour})` }} />
          <span class="name">{label}</span>
          <b>{formatValue(values[index] ?? 0)}</b>
        </p>
      ))}
    </div>
  );
}

function isAfter(ms: number, nowMs = Date.now()): boolean {
  return ms > nowMs;
}
